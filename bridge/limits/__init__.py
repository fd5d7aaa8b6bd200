"""What a run may take: its samples, its attack, its format, its seed."""
