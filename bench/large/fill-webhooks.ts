import type { Pool } from 'pg'
import type { Task } from './lanes.ts'
import { CAPTURE_DAYS, ENDPOINTS, LARGEST, idSql, workspaceSql, type Sizes } from './sizes.ts'

/** Statements that the requests are divided into: each has the next requests of all endpoints. */
const ROUNDS = 20

/** Endpoints, those of the largest workspace full, and their requests in the order of their arrival. */
export function webhookTasks(pool: Pool, { requests }: Sizes): Task[] {
  const { endpoints: full, requestsPerEndpoint: most } = LARGEST
  const perEndpoint = Math.min(most, Math.max(0, (requests - full * most) / (ENDPOINTS - full)))
  const rounds = Array.from({ length: ROUNDS }, (_, round): Task => async () => {
    const [from, to] = [(round * most) / ROUNDS, ((round + 1) * most) / ROUNDS]
    await pool.query(insertRequests({ from, to, perEndpoint }))
  })
  return [...rounds, () => fillEndpoints(pool, perEndpoint)]
}

/** The n-th of a thousand moments has a request of an endpoint when its number there grows with it. */
function insertRequests(part: { from: number; to: number; perEndpoint: number }): string {
  const { endpoints: full, requestsPerEndpoint: most } = LARGEST
  const density = part.perEndpoint / most
  return `
    insert into webhook_request (id, endpoint_id, method, path, query, headers, ip, body, body_size, content_type,
      received_at, duration_ms, http_version, preflight, aborted, response_status, stored_bytes)
    select gen_random_uuid(), ${idSql('endpoint', 'e')}, case when n % 20 = 0 then 'GET' else 'POST' end,
      '/webhooks/' || lpad(e::text, 10, '0') || '/orders/' || n, case when n % 3 = 0 then 'attempt=2' else '' end,
      json_build_array(json_build_array('host', 'hooks.example.com'), json_build_array('content-type', 'application/json'),
        json_build_array('user-agent', 'Shop/2.' || n % 9), json_build_array('x-shop-delivery', md5(n::text || e)),
        json_build_array('x-shop-signature', 'sha256=' || md5(e::text || n) || md5(n::text)),
        json_build_array('accept', '*/*'), json_build_array('content-length', length(body)::text)),
      '198.51.100.0'::inet + n % 200, body, length(body), 'application/json',
      now() - (${most} - n) * interval '${CAPTURE_DAYS} days' / ${most} - interval '1 hour' + e * interval '1 hour' / ${ENDPOINTS},
      3, '1.1', false, false, 200, 700 + length(body)
    from generate_series(${part.from}, ${part.to - 1}) n cross join generate_series(1, ${ENDPOINTS}) e
    cross join lateral (select convert_to('{"order": ' || n || ', "customer": "customer' || e % 97 || '", "items": ["'
      || left(repeat(md5(n::text || e) || '", "', 60), 100 + (n * 31 + e * 17) % 1700) || '"]}', 'UTF8') as body) b
    where e <= ${full} or floor((n + 1) * ${density}) > floor(n * ${density})`
}

async function fillEndpoints(pool: Pool, perEndpoint: number): Promise<void> {
  const { endpoints: full, requestsPerEndpoint: most } = LARGEST
  const count = `case when n <= ${full} then ${most} else ${Math.floor(perEndpoint)} end`
  await pool.query(`
    insert into webhook_endpoint (id, workspace_id, token, label, request_count, captured_bytes)
    select ${idSql('endpoint', 'n')}, ${workspaceSql('n', full)}, lpad(n::text, 10, '0'), 'Shop ' || n, ${count},
      ${count} * 1600
    from generate_series(1, ${ENDPOINTS}) n`)
}
