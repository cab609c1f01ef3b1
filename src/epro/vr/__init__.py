"""What `epro.solvers.EproVR` is made of: its state between epochs, the model of the constraint, white coordinates."""
