"""What people have earned: experience, levels, ranks, collection cards."""
