
use builtin;
use str;

set edit:completion:arg-completer[icache] = {|@words|
    fn spaces {|n|
        builtin:repeat $n ' ' | str:join ''
    }
    fn cand {|text desc|
        edit:complex-candidate $text &display=$text' '(spaces (- 14 (wcswidth $text)))$desc
    }
    var command = 'icache'
    for word $words[1..-1] {
        if (str:has-prefix $word '-') {
            break
        }
        set command = $command';'$word
    }
    var completions = [
        &'icache'= {
            cand --color 'When to use colour; NO_COLOR switches `auto` off'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
            cand serve 'Hold the index and answer lookups'
            cand subscribe 'Tell a server what an engine''s cache holds, from the events that the engine publishes'
            cand lookup 'Ask which replicas hold a prompt''s prefix, and why'
            cand explain 'Explain a reason code, a gate, a knob, a check, a lint rule, a metric or an exit status; without a name, list them all'
            cand capture 'Record what a server applies and answers, or what an engine publishes, into a capture for `icache replay`'
            cand replay 'Replay captures in process or to a server: what was answered, why, and whether it is what was recorded'
            cand simulate 'Simulate a fleet on a request trace, and compare routings and policies side by side'
            cand bench 'Load a server with lookups, and measure how it answers'
            cand policy 'Check, show, compare and try out policies'
            cand doctor 'Say whether an installation works, and what to do where it does not'
            cand top 'Watch a running server: lookups by reason code, latency, replicas, policies'
            cand drain 'Stop hints to a replica that is about to go'
            cand state 'Show the replicas'' statistics and the size of the index'
            cand report 'Report what a replica holds, and its statistics'
            cand event 'Publish a cache event: an eviction, a clearing, a sign of life'
            cand completions 'Print the completion script of a shell'
            cand man 'Print the manual page, or write the pages of all commands'
            cand generate 'Write completions/, man/ and docs/ from the definitions in the source'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'icache;serve'= {
            cand --config 'TOML file of settings; its keys are the flags below without their dashes'
            cand -o 'Form of --print-config; table is TOML'
            cand --output 'Form of --print-config; table is TOML'
            cand --grpc-addr 'Address of the gRPC services; port 0 takes a free one'
            cand --http-addr 'Address of /healthz, /readyz and /metrics, always in plaintext; port 0 takes a free one'
            cand --admin-addr 'Address of /policy, /snapshot, /probe, /drain, /unknown and /config, for operators and controllers; port 0 takes a free one'
            cand --ready-file 'Write the bound addresses as JSON to this file once ready'
            cand --preload 'Start with what this capture holds, as if its last record were of now; for trying things out'
            cand --drain-timeout 'Time that calls in flight have to finish when the server stops'
            cand --tls-cert 'PEM file of the certificate, with those between it and its authority; gRPC and the admin port then speak TLS. Read again when it changes'
            cand --tls-key 'PEM file of the certificate''s private key'
            cand --tls-client-ca 'PEM file of authorities; clients of gRPC and of the admin port must present a certificate of one of them'
            cand --admin-token-file 'File of tokens for the admin port, one a line; read again when it changes'
            cand --auth-file 'TOML file of the callers that gRPC admits: tokens or certificates, roles and tenants; read again when it changes'
            cand --insecure-plaintext 'Let --grpc-addr be reachable from other machines without TLS'
            cand --insecure-disable-auth 'Let --admin-addr be reachable from other machines without a token'
            cand --policy 'File or folder of CachePolicies and CacheTenants (.yaml, .yml, .json); watched, and reloaded whole; repeatable'
            cand --namespace 'Namespace of objects that name none'
            cand --state-dir 'Folder that the index is saved in when the server stops and every --state-interval, and loaded from when it starts; without it nothing is saved'
            cand --state-interval 'Time between two savings while the index changes: what is lost at most where the server is killed'
            cand --max-entries 'Replica entries of the index; over it the oldest or least used go'
            cand --max-memory 'Memory of the index; over it the oldest or least used go; without it there is no bound'
            cand --sweep-interval 'Time between two sweeps of what has reached its time to live'
            cand --default-ttl 'How long an entry lives after its last report, where the policy does not say'
            cand --block-size 'Tokens in a block, where the server builds the chain from token ids'
            cand --replica-timeout 'A replica not heard of for longer gets no hints; 0 switches it off'
            cand --pressure-weight 'How much a replica''s pressure lowers its score; 0 switches it off'
            cand --slo-tight-ttft-ms 'Requests with a lower TTFT target favour fresh holders, in milliseconds; 0 switches it off'
            cand --slo-tight-bias 'How much they do; 0 switches it off'
            cand --tenant-hot-max-age 'Oldest statistics that make a replica warm; 0 switches it off'
            cand --tenant-hot-min-hit-rate 'Lowest hit rate of a warm replica'
            cand --ranker 'What replicas are ranked by: who holds the prefix, or how long the request would wait'
            cand --in-flight-ttl 'How long a hinted prompt counts as held before its replica reports it, beyond the expected prefill; 0 switches it off'
            cand --prefill-rate 'Tokens that a replica prefills in a second, until its reports tell'
            cand --load-hint-code 'Code of a hint without cache evidence: LOAD_HINT, or AFFINITY_HINT for clients that know no other'
            cand --max-in-flight 'Lookups in flight above which further ones are shed; 0 switches it off'
            cand --max-message-size 'Size of one message; a larger one is answered RESOURCE_EXHAUSTED'
            cand --max-blocks 'Blocks in one request or update; a request over it is answered NO_HINT, and of an update the entries beyond are dropped'
            cand --max-hash-bytes 'Bytes of one hash; a request over it is answered NO_HINT, a prefix entry or event is dropped'
            cand --max-id-bytes 'Bytes of a replica, tenant, model, hash scheme or adapter id; a request over it is answered NO_HINT, an update or event is dropped'
            cand --max-replicas 'Replicas of one tenant and model; what further ones report is dropped'
            cand --max-replica-records 'Replicas of all tenants and models, those without entries included; what further ones report is dropped'
            cand --max-streams 'Concurrent streams of one connection'
            cand --max-connections 'Connections of one port at a time; a further one is closed at once'
            cand --metrics-max-series 'Model and tenant names that label metrics; further ones are labelled `other`'
            cand --otlp-endpoint 'Collector that spans of calls are sent to by OTLP over gRPC, as an http:// URL; without it none are made. OTEL_EXPORTER_OTLP_ENDPOINT counts where nothing else says one'
            cand --trace-share 'Share of the calls that are traced, 0 to 1; a call that brings a `traceparent` is traced where that says so'
            cand --log-format 'Form of the log [default: text on a terminal, else json]'
            cand --log-level 'Least severe level that is logged: off, error, warn, info, debug or trace'
            cand --color 'When to use colour; NO_COLOR switches `auto` off'
            cand --print-config 'Print the effective configuration with the source of each value, as a file for `--config`, and serve nothing'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'icache;subscribe'= {
            cand --engine 'Where the engine publishes, as tcp://HOST:PORT; rank N at the port N higher'
            cand --metrics-url 'The engine''s metrics page, scraped every 10 s for hit rate and pressure, such as http://127.0.0.1:8000/metrics'
            cand --hash-scheme 'Hash scheme under which gateways look the fingerprints up'
            cand --replay 'Where the engine answers replays, rank N at the port N higher; `none` where it does not [default: port 5558 of the engine''s host; with several ranks none]'
            cand --topic 'Take only topics that begin with this'
            cand --dp-ranks 'Data-parallel ranks of the engine, each with a publisher of its own [default: one publisher without ranks]'
            cand --replay-timeout 'How long a replay may be silent before it is given up'
            cand --adapter-names 'Names of adapters that the engine gives by number only; blocks of others are left out'
            cand --extra-keys 'What to do with blocks whose content is not in their tokens alone (images, cache salts)'
            cand --max-held-blocks 'Blocks followed of each replica at most, at 151 bytes each or less; further ones are left out [default: 4194304]'
            cand --refresh 'Time in which everything held is told again, spread evenly, so that it does not age out of the index'
            cand --http-addr 'Address of /healthz, /readyz and /metrics; port 0 takes a free one'
            cand --ready-file 'Write the bound address as JSON to this file once it is served'
            cand --server 'Server to ask; without it that of the environment variable ICACHE_SERVER, else http://127.0.0.1:9090'
            cand --timeout 'Deadline of a call, such as `250ms`; a file of updates has it for each of them [default: 10s]'
            cand --ca 'PEM file of the authorities that an https:// server is trusted by; without it those of the system (env ICACHE_CA)'
            cand --cert 'PEM file of a certificate to present to an https:// server (env ICACHE_CERT)'
            cand --key 'PEM file of the private key of --cert (env ICACHE_KEY)'
            cand --token 'Token to show; other users of this machine can see it, so a file or the environment is better (env ICACHE_TOKEN)'
            cand --token-file 'File that holds the token to show (env ICACHE_TOKEN_FILE)'
            cand --log-format 'Form of the log [default: text on a terminal, else json]'
            cand --log-level 'Least severe level that is logged: off, error, warn, info, debug or trace'
            cand --replica 'Replica id under which the engine is reported; with ranks, `-dp<rank>` is put behind it'
            cand --tenant 'Tenant that the engine serves'
            cand --model 'Model that the engine serves, as gateways call it'
            cand --color 'When to use colour; NO_COLOR switches `auto` off'
            cand --l2-retains 'Take blocks that leave the GPU to be kept in an offload pool (T2) that says nothing itself'
            cand --keep-on-exit 'At the end, leave with the server what it knows of the engine, and do not have it dropped'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'icache;lookup'= {
            cand --tenant 'Tenant that the prefix belongs to (tenant_id)'
            cand --model 'Model that computed the prefix (model_id)'
            cand --hash-scheme 'Scheme of the hashes: function, block size and seed (hash_scheme)'
            cand --adapter 'Adapter (LoRA) partition; without it the base model (adapter_id)'
            cand --block 'Hash of one block in hex or base64; repeat in order, from the start of the prompt'
            cand --blocks 'Hashes of the blocks in hex or base64, in order, between commas'
            cand --block-tokens 'Tokens in each block'
            cand --block-token-counts 'Tokens of each block, between commas, where blocks differ'
            cand --prefix-hash 'One hash for the whole prefix, in hex or base64'
            cand --prefix-tokens 'Tokens that --prefix-hash stands for'
            cand --token-ids 'The prompt as token ids, between commas'
            cand --tokens 'File with the prompt''s token ids, as a JSON array or as numbers; `-` is standard input'
            cand --prompt-text 'The prompt as text of one user message; needs a tokenizer on the server'
            cand --ttft-ms 'Target of the time to first token, in milliseconds'
            cand --request 'File with a LookupRouteRequest in proto3 JSON, instead of the flags above; `-` is standard input'
            cand --server 'Server to ask; without it that of the environment variable ICACHE_SERVER, else http://127.0.0.1:9090'
            cand --timeout 'Deadline of a call, such as `250ms`; a file of updates has it for each of them [default: 10s]'
            cand --ca 'PEM file of the authorities that an https:// server is trusted by; without it those of the system (env ICACHE_CA)'
            cand --cert 'PEM file of a certificate to present to an https:// server (env ICACHE_CERT)'
            cand --key 'PEM file of the private key of --cert (env ICACHE_KEY)'
            cand --token 'Token to show; other users of this machine can see it, so a file or the environment is better (env ICACHE_TOKEN)'
            cand --token-file 'File that holds the token to show (env ICACHE_TOKEN_FILE)'
            cand --capture 'Replay this capture in process and look up at its last instant, without a server; `-` is standard input'
            cand --policy 'Policies to look up under, in place of the captured ones: a YAML or JSON file, or a folder of them'
            cand --ranker 'What replicas are ranked by: who holds the prefix, or how long the request would wait'
            cand --in-flight-ttl 'How long a hinted prompt counts as held before its replica reports it, beyond the expected prefill; 0 switches it off'
            cand --prefill-rate 'Tokens that a replica prefills in a second, until its reports tell'
            cand --load-hint-code 'Code of a hint without cache evidence: LOAD_HINT, or AFFINITY_HINT for clients that know no other'
            cand --expect 'End with status 1 unless the answer has one of these reason codes'
            cand --expect-replica 'End with status 1 unless the answer''s first replica is this one'
            cand -o 'Form of the answer'
            cand --output 'Form of the answer'
            cand --color 'When to use colour; NO_COLOR switches `auto` off'
            cand --demo 'The same with the built-in capture of four engines; without a request, its last recorded one'
            cand --explain 'Show how the answer came about: every gate, every factor of every score'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'icache;explain'= {
            cand -o 'Form of the page'
            cand --output 'Form of the page'
            cand --color 'When to use colour; NO_COLOR switches `auto` off'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'icache;capture'= {
            cand --server 'Server to record; without it that of the environment variable ICACHE_SERVER, else http://127.0.0.1:9090'
            cand --lookups 'Share of lookups to record, 0 to 1; without all of them the credits of LFU are not those of the server'
            cand --zmq 'Engine to record in place of a server: where it publishes, as tcp://HOST:PORT; rank N at the port N higher'
            cand --replica 'Replica id under which the engine is reported; with ranks, `-dp<rank>` is put behind it'
            cand --tenant 'Tenant that the engine serves'
            cand --model 'Model that the engine serves, as gateways call it'
            cand --hash-scheme 'Hash scheme under which gateways look the fingerprints up'
            cand --replay 'Where the engine answers replays, rank N at the port N higher; `none` where it does not [default: port 5558 of the engine''s host; with several ranks none]'
            cand --topic 'Take only topics that begin with this'
            cand --dp-ranks 'Data-parallel ranks of the engine, each with a publisher of its own [default: one publisher without ranks]'
            cand --replay-timeout 'How long a replay may be silent before it is given up'
            cand --adapter-names 'Names of adapters that the engine gives by number only; blocks of others are left out'
            cand --extra-keys 'What to do with blocks whose content is not in their tokens alone (images, cache salts)'
            cand --max-held-blocks 'Blocks followed of each replica at most, at 151 bytes each or less; further ones are left out [default: 4194304]'
            cand --out 'File to write; one that is there already is not written over'
            cand --compress 'How files are compressed; without it as the name says: `.zst`, `.gz`, or not at all'
            cand --max-size 'Begin a further file once one has this size on disk: `fleet.00002.jsonl.zst` after `fleet.jsonl.zst`'
            cand --duration 'Stop after recording for this time'
            cand -o 'Form of the result'
            cand --output 'Form of the result'
            cand --ca 'PEM file of the authorities that an https:// server is trusted by; without it those of the system (env ICACHE_CA)'
            cand --cert 'PEM file of a certificate to present to an https:// server (env ICACHE_CERT)'
            cand --key 'PEM file of the private key of --cert (env ICACHE_KEY)'
            cand --token 'Token to show; other users of this machine can see it, so a file or the environment is better (env ICACHE_TOKEN)'
            cand --token-file 'File that holds the token to show (env ICACHE_TOKEN_FILE)'
            cand --color 'When to use colour; NO_COLOR switches `auto` off'
            cand --raw 'Keep the engine''s bytes: they hold the token ids of prompts; replay maps them with its own defaults'
            cand --l2-retains 'Take blocks that leave the GPU to be kept in an offload pool (T2) that says nothing itself'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'icache;replay'= {
            cand --mismatches 'Mismatches shown in full'
            cand --policy 'Policies that hold in place of the captured ones: a YAML or JSON file, or a folder of them'
            cand --ranker 'What replicas are ranked by: who holds the prefix, or how long the request would wait'
            cand --in-flight-ttl 'How long a hinted prompt counts as held before its replica reports it, beyond the expected prefill; 0 switches it off'
            cand --prefill-rate 'Tokens that a replica prefills in a second, until its reports tell'
            cand --load-hint-code 'Code of a hint without cache evidence: LOAD_HINT, or AFFINITY_HINT for clients that know no other'
            cand --ca 'PEM file of the authorities that an https:// server is trusted by; without it those of the system (env ICACHE_CA)'
            cand --cert 'PEM file of a certificate to present to an https:// server (env ICACHE_CERT)'
            cand --key 'PEM file of the private key of --cert (env ICACHE_KEY)'
            cand --token 'Token to show; other users of this machine can see it, so a file or the environment is better (env ICACHE_TOKEN)'
            cand --token-file 'File that holds the token to show (env ICACHE_TOKEN_FILE)'
            cand --speed 'How much faster than recorded: `1x`, `10x`, or `max` for as fast as the server answers [default: 1x]'
            cand --replica 'Replica of a bare batch'
            cand --model 'Model of a bare batch'
            cand --tenant 'Tenant of a bare batch'
            cand --hash-scheme 'Hash scheme of a bare batch [default: vllm]'
            cand --html 'Also write a page with plots over time, in one file that needs no network'
            cand -o 'Form of the result; jsonl is the JSON document in one line'
            cand --output 'Form of the result; jsonl is the JSON document in one line'
            cand --server 'Send it all to this server in place of replaying in process'
            cand --timeout 'Deadline of a call, such as `250ms` [default: 10s]'
            cand --color 'When to use colour; NO_COLOR switches `auto` off'
            cand --separate 'Replay each file into an empty index of its own, and add up what came of them'
            cand --check 'Compare each lookup with its recorded answer or expectation; any difference ends with exit status 1'
            cand --skip-bad 'Pass over and count lines that cannot be used'
            cand --timings 'Also say how long lookups took on this machine; a server''s answers are timed in any case'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'icache;simulate'= {
            cand --trace 'Requests, one JSON object a line: timestamp (ms), input_length, output_length (tokens) and hash_ids (one for each block of 512 tokens); plain, gzip or zstd; `-` is standard input'
            cand --workload 'Synthetic requests, made from the seed'
            cand --requests 'Synthetic requests to make [default: 6000]'
            cand --utilisation 'Stretch the clock of the requests until engines prefill so many percent of their time under round-robin'
            cand --replicas 'Engines'
            cand --blocks-per-replica 'Blocks of 512 tokens in the cache of each engine'
            cand --prefill-rate 'Tokens that each engine prefills in a second; of a list, engines take one each in turn'
            cand --gateways 'Gateways that share the requests in turn; each knows only what it has sent itself'
            cand --servers 'Servers, each asked by its share of the gateways; there are as many gateways at least'
            cand --kill 'An engine and its sidecar die without a word, so long after the first request: `r3@600s`, counted from r0'
            cand --restart 'An engine, dead or not, begins anew with an empty cache'
            cand --replica-timeout 'A replica not heard of for longer gets no hints; 0 switches it off'
            cand --publish 'When engines say what a prompt brought into their cache'
            cand --event-delay 'How late everything that engines say comes to the index'
            cand --refresh 'How often a sidecar reports everything that its engine holds; 0 for never'
            cand --route 'Routings to compare'
            cand --ranker 'Compare this ranker with the routings that ask nobody, in place of both rankers'
            cand --policy 'Policies to route under, beside the defaults: a YAML or JSON file, or a folder of them'
            cand --tenant 'Whose requests they are, and the namespace of policies that name none'
            cand --warmup 'Requests to begin with that go round-robin, whatever the routing'
            cand --seed 'Of synthetic requests and of the random routing'
            cand --html 'Also write a page with plots over time, one file that needs no network'
            cand -o 'Form of the result; jsonl is the JSON document in one line'
            cand --output 'Form of the result; jsonl is the JSON document in one line'
            cand --color 'When to use colour; NO_COLOR switches `auto` off'
            cand --skip-bad 'Pass over and count lines that cannot be used'
            cand --split-reports 'Each engine reports to one of the servers, in place of all'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'icache;bench'= {
            cand --in-flight 'Lookups in flight, all connections together: the next is asked when one is answered [default: 16]'
            cand --rate 'Lookups a second, whether earlier ones are answered or not; up to 1000000, with up to 1024 in flight'
            cand --connections 'Connections to the server'
            cand --duration 'How long to measure, 20m at most [default: 10s]'
            cand --requests 'Lookups to measure, in place of a duration'
            cand --warm-up 'How long to ask before anything counts, 20m at most; 0s is not at all'
            cand --against 'Also ask this server, in slices that take turns, and say how the two compare'
            cand --blocks 'Blocks of a chain, of 16 tokens each'
            cand --shared-head 'Part of each chain that is one of four heads, which every replica holds; from 0 to 1'
            cand --chains 'Distinct chains that are loaded, each held by 1, 2 or 4 replicas; times --blocks 4194304 at most'
            cand --replicas 'Replicas that hold them'
            cand --mix 'Weights of what is asked: chains held in full, that diverge behind the head, of which the head is held, and of which nothing is; a kind that the chains are too short for becomes the next one'
            cand --seed 'The same seed makes the same load'
            cand --tenant 'Tenant that the state is loaded under; what its replicas `bench-0`, `bench-1` and so on hold is removed'
            cand --model 'Model that the state is loaded under'
            cand --server 'Server to ask; without it that of the environment variable ICACHE_SERVER, else http://127.0.0.1:9090'
            cand --timeout 'Deadline of a call, such as `250ms`; a file of updates has it for each of them [default: 10s]'
            cand --ca 'PEM file of the authorities that an https:// server is trusted by; without it those of the system (env ICACHE_CA)'
            cand --cert 'PEM file of a certificate to present to an https:// server (env ICACHE_CERT)'
            cand --key 'PEM file of the private key of --cert (env ICACHE_KEY)'
            cand --token 'Token to show; other users of this machine can see it, so a file or the environment is better (env ICACHE_TOKEN)'
            cand --token-file 'File that holds the token to show (env ICACHE_TOKEN_FILE)'
            cand --html 'Also write the result as a page to this file'
            cand -o 'Form of the result; jsonl is the JSON document in one line'
            cand --output 'Form of the result; jsonl is the JSON document in one line'
            cand --color 'When to use colour; NO_COLOR switches `auto` off'
            cand --fast 'Ask through the stream of the FastLookup service'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'icache;policy'= {
            cand --color 'When to use colour; NO_COLOR switches `auto` off'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
            cand lint 'Check CachePolicy and CacheTenant files: what a server would refuse, and what is most likely not meant'
            cand rules 'Explain a rule of `icache policy lint`; without a name, list them all'
            cand show 'Show the effective policy of each namespace: every knob with its value and where it comes from'
            cand diff 'Compare two sets of policies in effect, not in text'
            cand simulate 'Replay captures under several policies, and compare the answers side by side'
            cand crd 'Print the CustomResourceDefinitions of CachePolicy and CacheTenant, for `kubectl apply`'
            cand schema 'Print the JSON Schema (2020-12) of CachePolicy and CacheTenant, for editors'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'icache;policy;lint'= {
            cand --format 'Form of the findings'
            cand --deny 'End with status 1 on these findings too'
            cand --allow 'Leave out what this rule finds (repeatable; also separated by commas)'
            cand --namespace 'Namespace of objects that name none'
            cand --block-size 'Tokens in a block of the engines'
            cand --sweep-interval 'Interval between two sweeps of the server'
            cand --color 'When to use colour; NO_COLOR switches `auto` off'
            cand --fix 'Write the fixes that are safe into the files; of standard input, print the fixed text'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'icache;policy;rules'= {
            cand -o 'Form of the page'
            cand --output 'Form of the page'
            cand --color 'When to use colour; NO_COLOR switches `auto` off'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'icache;policy;show'= {
            cand --admin-url 'Ask a running server for what is in force, at its admin port'
            cand --ca 'PEM file of the authorities that an https:// server is trusted by; without it those of the system (env ICACHE_CA)'
            cand --cert 'PEM file of a certificate to present to an https:// server (env ICACHE_CERT)'
            cand --key 'PEM file of the private key of --cert (env ICACHE_KEY)'
            cand --token 'Token to show; other users of this machine can see it, so a file or the environment is better (env ICACHE_TOKEN)'
            cand --token-file 'File that holds the token to show (env ICACHE_TOKEN_FILE)'
            cand --namespace 'Namespace of objects that name none'
            cand --default-ttl '`--default-ttl` of the server that they are for'
            cand --tenant 'Show this tenant alone, with the defaults where it has no policy'
            cand -o 'Form of the result; jsonl is the JSON document in one line'
            cand --output 'Form of the result; jsonl is the JSON document in one line'
            cand --color 'When to use colour; NO_COLOR switches `auto` off'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'icache;policy;diff'= {
            cand --namespace 'Namespace of objects that name none'
            cand --default-ttl '`--default-ttl` of the server that they are for'
            cand --ca 'PEM file of the authorities that an https:// server is trusted by; without it those of the system (env ICACHE_CA)'
            cand --cert 'PEM file of a certificate to present to an https:// server (env ICACHE_CERT)'
            cand --key 'PEM file of the private key of --cert (env ICACHE_KEY)'
            cand --token 'Token to show; other users of this machine can see it, so a file or the environment is better (env ICACHE_TOKEN)'
            cand --token-file 'File that holds the token to show (env ICACHE_TOKEN_FILE)'
            cand -o 'Form of the result; jsonl is the JSON document in one line'
            cand --output 'Form of the result; jsonl is the JSON document in one line'
            cand --color 'When to use colour; NO_COLOR switches `auto` off'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'icache;policy;simulate'= {
            cand --policy 'Policies to answer under, the first to compare the others with: a YAML or JSON file, or a folder of them'
            cand --namespace 'Namespace of objects that name none'
            cand -o 'Form of the result; jsonl is the JSON document in one line'
            cand --output 'Form of the result; jsonl is the JSON document in one line'
            cand --color 'When to use colour; NO_COLOR switches `auto` off'
            cand --skip-bad 'Pass over and count lines that cannot be used'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'icache;policy;crd'= {
            cand --color 'When to use colour; NO_COLOR switches `auto` off'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'icache;policy;schema'= {
            cand --color 'When to use colour; NO_COLOR switches `auto` off'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'icache;policy;help'= {
            cand lint 'Check CachePolicy and CacheTenant files: what a server would refuse, and what is most likely not meant'
            cand rules 'Explain a rule of `icache policy lint`; without a name, list them all'
            cand show 'Show the effective policy of each namespace: every knob with its value and where it comes from'
            cand diff 'Compare two sets of policies in effect, not in text'
            cand simulate 'Replay captures under several policies, and compare the answers side by side'
            cand crd 'Print the CustomResourceDefinitions of CachePolicy and CacheTenant, for `kubectl apply`'
            cand schema 'Print the JSON Schema (2020-12) of CachePolicy and CacheTenant, for editors'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'icache;policy;help;lint'= {
        }
        &'icache;policy;help;rules'= {
        }
        &'icache;policy;help;show'= {
        }
        &'icache;policy;help;diff'= {
        }
        &'icache;policy;help;simulate'= {
        }
        &'icache;policy;help;crd'= {
        }
        &'icache;policy;help;schema'= {
        }
        &'icache;policy;help;help'= {
        }
        &'icache;doctor'= {
            cand --server 'Server to ask; without it that of the environment variable ICACHE_SERVER, else http://127.0.0.1:9090'
            cand --timeout 'Deadline of a call, such as `250ms`; a file of updates has it for each of them [default: 10s]'
            cand --ca 'PEM file of the authorities that an https:// server is trusted by; without it those of the system (env ICACHE_CA)'
            cand --cert 'PEM file of a certificate to present to an https:// server (env ICACHE_CERT)'
            cand --key 'PEM file of the private key of --cert (env ICACHE_KEY)'
            cand --token 'Token to show; other users of this machine can see it, so a file or the environment is better (env ICACHE_TOKEN)'
            cand --token-file 'File that holds the token to show (env ICACHE_TOKEN_FILE)'
            cand --admin-url 'Admin port of the server; without it that of the environment variable ICACHE_ADMIN_URL, else port 8081 of the server'
            cand --admin-token-file 'File that holds the token of the admin port, where it differs from that of gRPC'
            cand --http-url 'HTTP port of the server; without it that of the environment variable ICACHE_HTTP_URL, else port 8080 of the server'
            cand -o 'Form of the result; jsonl is one finding a line'
            cand --output 'Form of the result; jsonl is one finding a line'
            cand --color 'When to use colour; NO_COLOR switches `auto` off'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'icache;top'= {
            cand --interval 'Time between two looks [default: 2s]'
            cand --server 'Server to ask; without it that of the environment variable ICACHE_SERVER, else http://127.0.0.1:9090'
            cand --timeout 'Deadline of a call, such as `250ms`; a file of updates has it for each of them [default: 10s]'
            cand --ca 'PEM file of the authorities that an https:// server is trusted by; without it those of the system (env ICACHE_CA)'
            cand --cert 'PEM file of a certificate to present to an https:// server (env ICACHE_CERT)'
            cand --key 'PEM file of the private key of --cert (env ICACHE_KEY)'
            cand --token 'Token to show; other users of this machine can see it, so a file or the environment is better (env ICACHE_TOKEN)'
            cand --token-file 'File that holds the token to show (env ICACHE_TOKEN_FILE)'
            cand --admin-url 'Admin port of the server; without it that of the environment variable ICACHE_ADMIN_URL, else port 8081 of the server'
            cand --admin-token-file 'File that holds the token of the admin port, where it differs from that of gRPC'
            cand --http-url 'HTTP port of the server; without it that of the environment variable ICACHE_HTTP_URL, else port 8080 of the server'
            cand -o 'Form of the frame of --once; jsonl is the JSON document in one line'
            cand --output 'Form of the frame of --once; jsonl is the JSON document in one line'
            cand --color 'When to use colour; NO_COLOR switches `auto` off'
            cand --once 'Print one frame and end'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'icache;drain'= {
            cand --admin-url 'Admin port of the server; without it that of the environment variable ICACHE_ADMIN_URL, else http://127.0.0.1:8081'
            cand --ca 'PEM file of the authorities that an https:// server is trusted by; without it those of the system (env ICACHE_CA)'
            cand --cert 'PEM file of a certificate to present to an https:// server (env ICACHE_CERT)'
            cand --key 'PEM file of the private key of --cert (env ICACHE_KEY)'
            cand --token 'Token to show; other users of this machine can see it, so a file or the environment is better (env ICACHE_TOKEN)'
            cand --token-file 'File that holds the token to show (env ICACHE_TOKEN_FILE)'
            cand -o 'Form of the result; jsonl is the JSON document in one line'
            cand --output 'Form of the result; jsonl is the JSON document in one line'
            cand --color 'When to use colour; NO_COLOR switches `auto` off'
            cand --undo 'Let it have hints again'
            cand --show 'Change nothing, and say whether it is drained'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'icache;state'= {
            cand --tenant 'Only this tenant; without it, all'
            cand --model 'Only this model; without it, all'
            cand --server 'Server to ask; without it that of the environment variable ICACHE_SERVER, else http://127.0.0.1:9090'
            cand --timeout 'Deadline of a call, such as `250ms`; a file of updates has it for each of them [default: 10s]'
            cand --ca 'PEM file of the authorities that an https:// server is trusted by; without it those of the system (env ICACHE_CA)'
            cand --cert 'PEM file of a certificate to present to an https:// server (env ICACHE_CERT)'
            cand --key 'PEM file of the private key of --cert (env ICACHE_KEY)'
            cand --token 'Token to show; other users of this machine can see it, so a file or the environment is better (env ICACHE_TOKEN)'
            cand --token-file 'File that holds the token to show (env ICACHE_TOKEN_FILE)'
            cand -o 'Form of the result; jsonl is one replica a line'
            cand --output 'Form of the result; jsonl is one replica a line'
            cand --color 'When to use colour; NO_COLOR switches `auto` off'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'icache;report'= {
            cand --replica 'Replica that reports (replica_id)'
            cand --tenant 'Tenant that the prefix belongs to (tenant_id)'
            cand --model 'Model that computed the prefix (model_id)'
            cand --hash-scheme 'Scheme of the hashes: function, block size and seed (hash_scheme)'
            cand --adapter 'Adapter (LoRA) partition; without it the base model (adapter_id)'
            cand --block 'Hash of one block in hex or base64; repeat in order, from the start of the prompt'
            cand --blocks 'Hashes of the blocks in hex or base64, in order, between commas'
            cand --block-tokens 'Tokens in each block'
            cand --block-token-counts 'Tokens of each block, between commas, where blocks differ'
            cand --prefix-hash 'One hash for the whole prefix, in hex or base64'
            cand --prefix-tokens 'Tokens that --prefix-hash stands for'
            cand --token-ids 'The prompt as token ids, between commas'
            cand --tokens 'File with the prompt''s token ids, as a JSON array or as numbers; `-` is standard input'
            cand --block-size 'Tokens in a block, where --token-ids or --tokens are hashed here [default: 16]'
            cand --tier 'Tier that holds the prefix: T1 engine KV cache, T2 offload pool, T3 remote store [default: T1]'
            cand --timestamp-us 'When this was true, in Unix microseconds; without it, now'
            cand --hit-rate 'Share of queried tokens found in cache, 0 to 1'
            cand --pressure 'Share of the KV cache in use, 0 to 1'
            cand --memory-bytes 'Size of the KV cache, in bytes'
            cand --t2-hit-tokens 'Tokens found in tier 2, a running total'
            cand --t2-query-tokens 'Tokens asked of tier 2, a running total'
            cand --client-version 'Version of what reports'
            cand --update 'File with one or more CacheStateUpdate messages in proto3 JSON, sent as they are read; `-` is standard input'
            cand --server 'Server to ask; without it that of the environment variable ICACHE_SERVER, else http://127.0.0.1:9090'
            cand --timeout 'Deadline of a call, such as `250ms`; a file of updates has it for each of them [default: 10s]'
            cand --ca 'PEM file of the authorities that an https:// server is trusted by; without it those of the system (env ICACHE_CA)'
            cand --cert 'PEM file of a certificate to present to an https:// server (env ICACHE_CERT)'
            cand --key 'PEM file of the private key of --cert (env ICACHE_KEY)'
            cand --token 'Token to show; other users of this machine can see it, so a file or the environment is better (env ICACHE_TOKEN)'
            cand --token-file 'File that holds the token to show (env ICACHE_TOKEN_FILE)'
            cand -o 'Form of the acknowledgement'
            cand --output 'Form of the acknowledgement'
            cand --color 'When to use colour; NO_COLOR switches `auto` off'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'icache;event'= {
            cand --type 'What happened'
            cand --replica 'Replica that it happened to (replica_id)'
            cand --tenant 'Tenant (tenant_id)'
            cand --model 'Model (model_id)'
            cand --prefix-hash 'Hash that was evicted, in hex or base64; in every hash scheme'
            cand --adapter 'Evict in this adapter partition only; without it in all'
            cand --timestamp-us 'When it happened, in Unix microseconds; without it, now'
            cand --event 'File with one or more CacheEvent messages in proto3 JSON, instead of the flags above; `-` is standard input'
            cand --server 'Server to ask; without it that of the environment variable ICACHE_SERVER, else http://127.0.0.1:9090'
            cand --timeout 'Deadline of a call, such as `250ms`; a file of updates has it for each of them [default: 10s]'
            cand --ca 'PEM file of the authorities that an https:// server is trusted by; without it those of the system (env ICACHE_CA)'
            cand --cert 'PEM file of a certificate to present to an https:// server (env ICACHE_CERT)'
            cand --key 'PEM file of the private key of --cert (env ICACHE_KEY)'
            cand --token 'Token to show; other users of this machine can see it, so a file or the environment is better (env ICACHE_TOKEN)'
            cand --token-file 'File that holds the token to show (env ICACHE_TOKEN_FILE)'
            cand -o 'Form of the acknowledgement'
            cand --output 'Form of the acknowledgement'
            cand --color 'When to use colour; NO_COLOR switches `auto` off'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'icache;completions'= {
            cand --color 'When to use colour; NO_COLOR switches `auto` off'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'icache;man'= {
            cand --dir 'Folder to write one page a command to; without it, icache(1) is printed'
            cand --color 'When to use colour; NO_COLOR switches `auto` off'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'icache;generate'= {
            cand --root 'Root of the source tree'
            cand --color 'When to use colour; NO_COLOR switches `auto` off'
            cand --check 'Write nothing; end with status 1 where a file is stale'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'icache;help'= {
            cand serve 'Hold the index and answer lookups'
            cand subscribe 'Tell a server what an engine''s cache holds, from the events that the engine publishes'
            cand lookup 'Ask which replicas hold a prompt''s prefix, and why'
            cand explain 'Explain a reason code, a gate, a knob, a check, a lint rule, a metric or an exit status; without a name, list them all'
            cand capture 'Record what a server applies and answers, or what an engine publishes, into a capture for `icache replay`'
            cand replay 'Replay captures in process or to a server: what was answered, why, and whether it is what was recorded'
            cand simulate 'Simulate a fleet on a request trace, and compare routings and policies side by side'
            cand bench 'Load a server with lookups, and measure how it answers'
            cand policy 'Check, show, compare and try out policies'
            cand doctor 'Say whether an installation works, and what to do where it does not'
            cand top 'Watch a running server: lookups by reason code, latency, replicas, policies'
            cand drain 'Stop hints to a replica that is about to go'
            cand state 'Show the replicas'' statistics and the size of the index'
            cand report 'Report what a replica holds, and its statistics'
            cand event 'Publish a cache event: an eviction, a clearing, a sign of life'
            cand completions 'Print the completion script of a shell'
            cand man 'Print the manual page, or write the pages of all commands'
            cand generate 'Write completions/, man/ and docs/ from the definitions in the source'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'icache;help;serve'= {
        }
        &'icache;help;subscribe'= {
        }
        &'icache;help;lookup'= {
        }
        &'icache;help;explain'= {
        }
        &'icache;help;capture'= {
        }
        &'icache;help;replay'= {
        }
        &'icache;help;simulate'= {
        }
        &'icache;help;bench'= {
        }
        &'icache;help;policy'= {
            cand lint 'Check CachePolicy and CacheTenant files: what a server would refuse, and what is most likely not meant'
            cand rules 'Explain a rule of `icache policy lint`; without a name, list them all'
            cand show 'Show the effective policy of each namespace: every knob with its value and where it comes from'
            cand diff 'Compare two sets of policies in effect, not in text'
            cand simulate 'Replay captures under several policies, and compare the answers side by side'
            cand crd 'Print the CustomResourceDefinitions of CachePolicy and CacheTenant, for `kubectl apply`'
            cand schema 'Print the JSON Schema (2020-12) of CachePolicy and CacheTenant, for editors'
        }
        &'icache;help;policy;lint'= {
        }
        &'icache;help;policy;rules'= {
        }
        &'icache;help;policy;show'= {
        }
        &'icache;help;policy;diff'= {
        }
        &'icache;help;policy;simulate'= {
        }
        &'icache;help;policy;crd'= {
        }
        &'icache;help;policy;schema'= {
        }
        &'icache;help;doctor'= {
        }
        &'icache;help;top'= {
        }
        &'icache;help;drain'= {
        }
        &'icache;help;state'= {
        }
        &'icache;help;report'= {
        }
        &'icache;help;event'= {
        }
        &'icache;help;completions'= {
        }
        &'icache;help;man'= {
        }
        &'icache;help;generate'= {
        }
        &'icache;help;help'= {
        }
    ]
    $completions[$command]
}
