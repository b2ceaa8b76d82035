import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { IP } from '../servers/blacklists.ts'
import { AUTOMATIC, FORM, startPlace, type Place } from './place.ts'

let place: Place
beforeAll(async () => void (place = await startPlace()))
beforeEach(() => place.reset())
afterAll(() => place.stop())

/** Alice watches the address, and knows where it is listed. */
async function watch(zones: string[], lists: object = {}): Promise<void> {
  const { rows } = await place.portreeve.pool.query<{ id: string }>(
    'insert into monitored_host (workspace_id, host, lists) select id, $1, $2 from account returning id',
    [IP, lists],
  )
  for (const zone of zones) {
    await place.portreeve.pool.query(
      `insert into monitored_fact (host_id, kind, subject, state, detail, since)
       values ($1, 'blacklist', $2, 'listed', '{}', now())`,
      [rows[0]?.id, `${IP} ${zone}`],
    )
  }
}

/** Two lists contain the address, and remove it. */
async function delist(): Promise<string[]> {
  await place.list({ [AUTOMATIC]: '127.0.0.2', [FORM]: '127.0.0.2' })
  const { id } = await place.begin()
  await place.portreeve.tend()
  await place.list({ [AUTOMATIC]: {}, [FORM]: {} })
  await place.portreeve.pass(26)
  expect(await place.read(id)).toMatchObject({ status: 'completed' })
  return place.portreeve.alerts
    .map(({ kind }) => kind)
    .filter((kind) => kind !== 'delisting.needs-you')
}

describe('that an address is off the lists', () => {
  it('raises an alert when the host is not monitored', async () => {
    expect(await delist()).toEqual(['delisting.completed'])
  })

  it('raises no alert when monitoring raises one', async () => {
    await watch([AUTOMATIC, FORM])
    expect(await delist()).toEqual([])
  })

  it('raises an alert when monitoring ignores one of the blocklists', async () => {
    await watch([AUTOMATIC])
    expect(await delist()).toEqual(['delisting.completed'])
    await place.portreeve.pool.query('delete from monitored_host')
    place.portreeve.alerts.length = 0
    await watch([AUTOMATIC, FORM], { [FORM]: 'watch' })
    expect(await delist()).toEqual(['delisting.completed'])
  })
})
