import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startScriptedPeer } from '../exchange/federation/scripted-peer.ts'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { runInProcess, runPortreeve } from './command.ts'

let database: FreshDatabase
let peer: Awaited<ReturnType<typeof startScriptedPeer>>
beforeAll(async () => {
  database = await freshDatabase()
  peer = await startScriptedPeer()
})
afterAll(async () => {
  peer.stop()
  await database.drop()
})

const settings = () => ({
  DATABASE_URL: database.url,
  SECRET_KEY: 'the secret key of the command about peers',
  ALLOW_PRIVATE_TARGETS: '127.0.0.0/8,::1',
})
const run = (...words: string[]) => runInProcess(['peer', ...words], settings())

describe('portreeve peer', () => {
  it('adds, approves and ends a peer', { timeout: 240_000 }, async () => {
    expect((await run('list')).out).toMatch(/^This installation: localhost:8080\n(\w{4} ?){16}\n/)
    const added = await runPortreeve(['peer', 'add', peer.url, '--json'], settings())
    expect(added).toMatchObject({ code: 0, err: '' })
    const { id, fingerprint } = (
      JSON.parse(added.out) as { data: { id: string; fingerprint: string } }
    ).data
    expect(fingerprint).toBe(peer.key().fingerprint)
    expect((await run('approve', id, 'f'.repeat(64))).code).not.toBe(0)
    expect((await run('approve', id, fingerprint)).out).toMatch(/Its state is waiting\.$/m)
    expect((await run('list')).out).toMatch(new RegExp(`${id} +waiting +localhost`))
    expect((await run('end', id)).code).toBe(0)
    expect((await run('list')).out).toMatch(new RegExp(`${id} +ending +localhost`))
    expect((await run('end', 'x')).code).toBe(2)
    const entries = await database.db.selectFrom('auditEntry').select('route').execute()
    expect(entries.map(({ route }) => route)).toEqual(
      ['add', 'approve', 'end'].map((verb) => `portreeve peer ${verb}`),
    )
  })
})
