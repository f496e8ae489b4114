"""What every process needs: settings, a gRPC edge, identity, channels, and a clean end."""
