"""What `opolyx doctor` looks at: nothing here makes, changes or starts anything, or waits long."""
