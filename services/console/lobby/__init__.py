"""What the commands about rooms and people share: how they ask, and how they print."""
