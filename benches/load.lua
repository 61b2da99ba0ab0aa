-- wrk's side of benches/run: sends one GraphQL request over and over and prints what came of it.
--
--   wrk … -s benches/load.lua URL -- BODY_FILE [RUN PERSONS]
--
-- In the body, @TURN@ becomes an id that no other request has, and @PERSON@ one of that many persons.

local body, run, persons
local counter = 0
local threads = {}

failed = 0

function setup(thread)
    thread:set("number", #threads)
    table.insert(threads, thread)
end

function init(args)
    local file = assert(io.open(args[1]))
    body = file:read("*a")
    file:close()
    run, persons = args[2], tonumber(args[3])
    math.randomseed(number + 1)
    wrk.method = "POST"
    wrk.headers["content-type"] = "application/json"
    wrk.body = body
    if not run then
        -- Made once: building each request anew is the load generator's work, not the server's.
        local request_once = wrk.format()
        request = function() return request_once end
        response = nil
    end
end

function request()
    counter = counter + 1
    local turn = ("%s-%d-%d"):format(run, number, counter)
    local person = ("bench-%d"):format(math.random(persons))
    return wrk.format(nil, nil, nil, (body:gsub("@TURN@", turn):gsub("@PERSON@", person)))
end

function response(status, headers, answer)
    if status ~= 200 or answer:find('"errors"', 1, true) then failed = failed + 1 end
end

-- One line: requests a second, p50 and p99 in microseconds, bytes of an answer, how many failed.
function done(summary, latency)
    local errors = summary.errors
    local lost = errors.connect + errors.read + errors.write + errors.status + errors.timeout
    for _, thread in ipairs(threads) do lost = lost + thread:get("failed") end
    io.write(("RESULT %.1f %d %d %d %d\n"):format(
        summary.requests / summary.duration * 1e6, latency:percentile(50), latency:percentile(99),
        summary.bytes / summary.requests, lost))
end
