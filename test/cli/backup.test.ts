import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runInProcess, runPortreeve } from './command.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'portreeve-cli-'))
  chmodSync(folder, 0o755)
})
afterAll(() => rmSync(folder, { recursive: true }))

describe('portreeve backup and restore', () => {
  it('bring the accounts of one data folder into another', { timeout: 60_000 }, async () => {
    const file = join(folder, 'monday.backup')
    const here = { DATA_DIR: join(folder, 'here') }
    const there = { DATA_DIR: join(folder, 'there') }
    await runInProcess(['user', 'create', '--email', 'a@people.test', '--password-stdin'], here, {
      input: 'a password of hers',
    })
    const made = await runPortreeve(['backup', file, '--json'], here)
    expect([made.code, JSON.parse(made.out)]).toMatchObject([0, { success: true, file }])
    const restored = await runPortreeve(['restore', file], there)
    expect([restored.code, restored.out]).toEqual([
      0,
      expect.stringMatching(
        /^Restored the database of 20.*Z\. Start the service: the start checks /,
      ),
    ])
    const key = { SECRET_KEY: 'the key of this installation, of 32 bytes or more' }
    const reset = ['user', 'reset-link', 'a@people.test']
    expect((await runInProcess(reset, { ...here, ...key })).code).toBe(0)
    const keyed = join(folder, 'keyed.backup')
    expect((await runInProcess(['backup', keyed], here)).code).toBe(0)
    const without = { DATA_DIR: join(folder, 'without-key') }
    const { code, out } = await runInProcess(['restore', keyed], without)
    expect([code, out]).toEqual([0, expect.stringMatching(/is missing\. Copy secret\.key to /)])
    expect((await runInProcess(['user', 'list'], there)).out).toMatch(/^a@people\.test /)
    expect((await runInProcess(['restore', file], there)).code).toBe(1)
  })

  it('need an archive and a moment with a time zone for --at', async () => {
    const at = async (...words: string[]) => {
      const { code, err } = await runInProcess(['restore', ...words], { DATA_DIR: folder })
      return [code, err]
    }
    const [archived, hour, future] = await Promise.all([
      at('--at', 'latest'),
      at('--at', '2026-11-26T09:00:00'),
      at('--at', '2999-01-01T00:00:00Z'),
    ])
    expect(archived).toEqual([1, expect.stringContaining('BACKUP_ARCHIVE is not set')])
    expect(hour).toEqual([2, expect.stringContaining('time zone')])
    expect(future).toEqual([2, expect.stringContaining('in the future')])
    expect(await at()).toEqual([2, expect.stringContaining('either the FILE')])
  })

  it('describe their purpose and their limits', async () => {
    expect((await runInProcess(['backup'], {})).code).toBe(2)
    expect((await runInProcess(['restore', 'one', 'two'], {})).code).toBe(2)
    const { code, err } = await runInProcess(['backup', 'x'], {
      DATABASE_URL: 'postgres://db.example/portreeve',
    })
    expect([code, err]).toEqual([1, expect.stringContaining('pg_dump')])
    const none = await runInProcess(['backup', join(folder, 'x')], {
      DATA_DIR: join(folder, 'nothing'),
    })
    expect([none.code, none.err]).toEqual([1, expect.stringContaining('No database found in')])
  })
})
