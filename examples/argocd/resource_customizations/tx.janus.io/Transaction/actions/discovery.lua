-- undo: what is Committed. retry: an undo that left something. abort: what is under way.
local status = obj.status or {}
local phase = status.phase
local isLeft = false
for _, item in ipairs(status.items or {}) do
  isLeft = isLeft or item.left == true
end
local actions = {}
actions["undo"] = { ["disabled"] = phase ~= "Committed" }
actions["retry"] = { ["disabled"] = not (phase == "Failed" and isLeft) }
actions["abort"] = { ["disabled"] = not (phase == "Pending" or phase == "Preparing" or phase == "Prepared" or phase == "Committing") }
return actions
