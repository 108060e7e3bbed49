-- Being read makes a node cold later, never earlier. So `heat.full_at` may be less than what it stands
-- for: whoever looks for cold nodes works it out where that matters, and reading changes no index.
DROP TRIGGER heat_moved;
