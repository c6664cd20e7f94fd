"""Not built yet; see ARCHITECTURE.md."""
