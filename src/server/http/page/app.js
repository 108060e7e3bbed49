// The page of the memory.
