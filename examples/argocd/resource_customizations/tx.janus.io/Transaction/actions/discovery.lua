-- undo: what is Committed. retry: an undo that left something. abort: what is under way.
local phase = obj.status and obj.status.phase
local actions = {}
actions["undo"] = { ["disabled"] = phase ~= "Committed" }
actions["retry"] = { ["disabled"] = phase ~= "Failed" }
actions["abort"] = { ["disabled"] = not (phase == "Pending" or phase == "Preparing" or phase == "Prepared" or phase == "Committing") }
return actions
