"""What each topic adds on this floor: its theorems, and the functions that fit none of the engine's makers."""
