-- A new value is a new request: the engine acts on each value once.
local os = require("os")
if obj.metadata.annotations == nil then
  obj.metadata.annotations = {}
end
obj.metadata.annotations["tx.janus.io/request-rollback"] = os.date("!%Y-%m-%dT%H:%M:%SZ")
return obj
