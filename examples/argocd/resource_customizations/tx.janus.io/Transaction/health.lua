-- Progressing until the engine has finished; never Healthy before the first status. Healthy is Committed alone.
local hs = { status = "Progressing", message = "the engine has not looked at it yet" }
local status = obj.status
if status == nil or status.conditions == nil or status.observedGeneration ~= obj.metadata.generation then
  return hs
end

local is = {}
for _, condition in ipairs(status.conditions) do
  is[condition.type] = condition.status == "True"
end

hs.message = status.message
if is.Finished and is.Succeeded then
  hs.status = "Healthy"
elseif is.Finished then
  hs.status = "Degraded"
  hs.message = status.phase .. ": " .. (status.message or "")
elseif obj.metadata.deletionTimestamp ~= nil or is.Reconciling then
  hs.status = "Progressing"
end
return hs
