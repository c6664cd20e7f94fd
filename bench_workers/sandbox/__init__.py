"""What is allowed, and how it is enforced."""
