import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { isDeepStrictEqual } from 'node:util'
import type { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDatabase, type Database } from '../../src/store/database.ts'
import { saveCheck } from '../../src/monitoring/checks/host-checks.sql.ts'
import type { HostRow } from '../../src/monitoring/hosts.sql.ts'
import { writeHosts } from '../../src/monitoring/list/write-hosts.ts'
import { until } from '../alerts/module.ts'
import { startTestService, type Person, type TestService } from '../service.ts'

/** Several batches and a part of one. */
const HOSTS = 4_100
/**
 * Lists with a mode, of each host that has any. When all hosts have, the whole list is more than the
 * buffers of a connection.
 */
const LISTS = 150
const modes = `(select jsonb_object_agg('a-blocklist-' || list || '.example', 'watch') from generate_series(1, ${LISTS}) list)`

let portreeve: TestService
let database: Database
let alice: Person
let bob: Person
beforeAll(async () => {
  portreeve = await startTestService({ REQUEST_LIMITS: 'off' })
  database = openDatabase(portreeve.databaseUrl)
  ;[alice, bob] = [await portreeve.addPerson('Alice'), await portreeve.addPerson('Bob')]
  await fill(database.pool)
  await addCertificates(database.pool)
})
afterAll(async () => {
  await database.close()
  await portreeve.stop()
})

/** Hosts whose names are not in the order of their creation; few of them have lists with a mode. */
async function fill(pool: Pool): Promise<void> {
  await pool.query(
    `insert into monitored_host (workspace_id, host, lists, status, grave_due_at, full_due_at, side_due_at)
     select $1, n * 7919 % $2 || '.example', case when n % 50 = 0 then ${modes} else '{}' end, 'clean',
       now() + interval '50 minutes', now() + interval '23 hours', now() + interval '2 hours'
     from generate_series(1, $2::integer) n`,
    [alice.id, HOSTS],
  )
  await pool.query(`
    insert into monitored_period (host_id, began_at, state)
    select id, now() - days * interval '1 day', case when days % 3 = 0 then 'listed' else 'clean' end
    from monitored_host cross join unnest(array[50, 40, 30, 7, 3]) days
    where days % 7 = split_part(host, '.', 1)::integer % 7`)
}

/** Certificates of some hosts; each has one with a problem, which expires last. */
async function addCertificates(pool: Pool): Promise<void> {
  await pool.query(`
    insert into monitored_fact (host_id, kind, subject, state, detail, since)
    select id, 'certificate', port, case port when '443' then 'expiring' else 'valid' end,
      jsonb_build_object('validTo', to_char(now() + port::integer * interval '1 hour', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')), now()
    from monitored_host cross join unnest(array['25', '443']) port
    where split_part(host, '.', 1)::integer % 5 = 0`)
}

type Listed = {
  id: string
  host: string
  days: string[]
  availability: object
  lists: Record<string, string>
  nextCheckAt: string
  certificate: { state: string } | null
}
type List = { data: Listed[]; pagination?: { totalPages: number } }
const list = async (query: string) => {
  const path = `/api/v1/monitoring/hosts?${query}`
  return (await (await portreeve.request(path, { token: alice.token })).json()) as List
}
/** Without the seconds, which go on, and without the lists, which would hide other differences. */
const stable = ({ lists: _lists, availability: _availability, ...host }: Listed) => host

/** Asks for the whole list, and reads nothing of its body. */
async function openList(): Promise<IncomingMessage> {
  const url = new URL('/api/v1/monitoring/hosts', portreeve.wire)
  const request = get(url, { agent: false, headers: { authorization: `Bearer ${alice.token}` } })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  return response
}

describe('the list of all monitored hosts', () => {
  it.each(['', 'sort=-host', 'q=1&sort=availability'])(
    'has the hosts of all pages: %s',
    async (query) => {
      const whole = (await list(query)).data
      const pages: Listed[] = []
      for (let page = 1, last = 1; page <= last; page++) {
        const { data, pagination } = await list(`${query}&limit=100&page=${page}`)
        pages.push(...data)
        last = pagination?.totalPages ?? 0
      }
      expect(whole.length).toBe(query.startsWith('q=') ? pages.length : HOSTS)
      expect(whole.map(stable)).toEqual(pages.map(stable))
      const isOther = ({ lists }: Listed, n: number) => !isDeepStrictEqual(lists, pages[n]?.lists)
      expect(whole.filter(isOther)).toEqual([])
      expect(new Set(whole.map(({ days }) => days.join())).size).toBeGreaterThan(3)
    },
  )

  it('occupies no connection and no transaction while a client does not read it', async () => {
    await database.pool.query(`update monitored_host set lists = ${modes}`)
    const lists: IncomingMessage[] = []
    while (lists.length < 8) lists.push(await openList())
    await until(busyConnections, (busy) => busy === 0)
    expect((await portreeve.request('/api/v1/tokens', { token: bob.token })).status).toBe(200)
    for (const response of lists) {
      const text = Buffer.concat(await response.toArray()).toString()
      expect((JSON.parse(text) as List).data).toHaveLength(HOSTS)
    }
    await database.pool.query(`update monitored_host set lists = '{}'`)
  })

  it('is the same before the first check after an upgrade, which fills what is kept of the last days', async () => {
    const before = (await list('limit=100')).data
    expect(new Set(before.map(({ certificate }) => certificate?.state))).toEqual(
      new Set([undefined, 'expiring']),
    )
    await database.pool.query(
      'update monitored_host set recent_states = null, first_certificate = null',
    )
    expect((await list('limit=100')).data.map(stable)).toEqual(before.map(stable))
    const { id, nextCheckAt } = before[0] as Listed
    const due = new Date(nextCheckAt)
    const outcome = { graveDueAt: due, fullDueAt: due, sideDueAt: due, recheckAt: null }
    const counts = { status: 'clean' as const, listedCount: 0, unknownCount: 0, totalChecked: 0 }
    const host = { id, run: 0 } as HostRow
    const checked = { ...outcome, ...counts, detail: null, lastCheckAt: new Date() }
    expect(await saveCheck(database.db, host, checked)).toBe(true)
    const { rows } = await database.pool.query(
      'select id from monitored_host where recent_states is not null and first_certificate is not null',
    )
    expect(rows).toEqual([{ id }])
    const [after] = (await list('limit=100')).data
    expect(after?.days).toEqual(before[0]?.days)
    expect(after?.certificate).toEqual(before[0]?.certificate)
  })

  it('reads only two batches ahead, and leaves out hosts that are deleted meanwhile', async () => {
    const ids = (await list('')).data.map(({ id }) => id)
    const parts = writeHosts(database.db, ids)
    let text = (await parts.next()).value as string
    await until(busyConnections, (busy) => busy === 0)
    await database.pool.query('delete from monitored_host where id <> $1', [ids.at(-1)])
    for await (const part of parts) text += part
    expect((JSON.parse(text) as List).data.map(({ id }) => id)).toEqual([
      ...ids.slice(0, 3_000),
      ids.at(-1),
    ])
    await database.pool.query('delete from monitored_host')
    expect((await list('')).data).toEqual([])
  })
})

/** Connections of this database that run a statement or have an open transaction. */
async function busyConnections(): Promise<number> {
  const { rows } = await database.pool.query<{ busy: number }>(`
    select count(*) as busy from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle'`)
  return rows[0]?.busy ?? Number.NaN
}
