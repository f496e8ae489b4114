"""What people have earned: experience, levels, ranks, collection cards.

Owns the schema `progression`, writes the topic of progression events, reads the match records.
"""
