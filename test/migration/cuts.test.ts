import type { MigrateOptions } from '../../src/migration/engine/migration-options.ts'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createLog } from '../../src/log.ts'
import { openFileJournal } from '../../src/migration/engine/journal/file-journal.ts'
import type { Journal } from '../../src/migration/engine/journal/journal.ts'
import { createMemoryJournal } from '../../src/migration/engine/journal/memory-journal.ts'
import { WAIT_TIMES, type WaitTimes } from '../../src/migration/limits.ts'
import { migrateMailbox } from '../../src/migration/engine/migrate.ts'
import { startDovecot } from '../servers/dovecot.ts'
import type { MailServer } from '../servers/mail-server.ts'
import { startProxy, type Proxy } from '../servers/proxy.ts'
import { accountOn, contents, fill, mail, read, type Letter } from './mailbox.ts'

/** Set in the long run: 50 cuts and 50 kills. */
const TIMES = process.env['PORTREEVE_HARD'] ? 50 : 5
const SECONDS = TIMES * 20_000

const waitTimes: WaitTimes = { ...WAIT_TIMES, reconnectMs: { first: 5, most: 50 }, quietMs: 700 }

function letters(count: number): Letter[] {
  return Array.from({ length: count }, (_, n) => ({
    body: mail(n % 40 === 0 ? 1_500_000 : 500 + (n % 7) * 3_000),
    flags: n % 2 === 0 ? ['\\Seen', 'work'] : ['\\Flagged'],
    date: `0${1 + (n % 9)}-Mar-2021 08:09:10 +0100`,
  }))
}

/** Folders that are copied together, over one pair of connections. */
function smallFolders(): Record<string, Letter[]> {
  const folders = Array.from({ length: 24 }, (_, n) => [`Filed/${n}`, letters(3).slice(1)] as const)
  return Object.fromEntries(folders)
}

describe('a migration whose connections break', () => {
  let from: MailServer
  let to: MailServer
  let proxies: [Proxy, Proxy]

  beforeAll(async () => {
    ;[from, to] = await Promise.all([startDovecot(), startDovecot()])
    proxies = await Promise.all([startProxy(from.port), startProxy(to.port)])
    await from.addUser('alice', 'secret')
    // Two identical messages count as two.
    const twin = { body: mail(900), date: '01-Mar-2021 08:09:10 +0100' }
    const nameless = { body: 'Subject: no id\r\n\r\nbody\r\n', date: '01-Mar-2021 08:09:10 +0100' }
    await fill(accountOn(from.port), {
      INBOX: [...letters(120), twin, twin, nameless, nameless],
      Sent: letters(60),
      ...smallFolders(),
    })
  })
  afterAll(async () => {
    await Promise.all(proxies.map((proxy) => proxy.close()))
    await Promise.all([from.stop(), to.stop()])
  })

  async function migrateTo(user: string, journal: Journal, options: MigrateOptions = {}) {
    return migrateMailbox({
      source: { account: accountOn(proxies[0].port) },
      destination: { account: accountOn(proxies[1].port, user) },
      folders: 'all',
      options,
      journal,
      signal: new AbortController().signal,
      log: createLog('silent'),
      waitTimes,
    })
  }

  async function expectEqual(user: string): Promise<void> {
    const [source, destination] = await Promise.all([
      read(accountOn(from.port)),
      read(accountOn(to.port, user)),
    ])
    for (const [folder, stored] of Object.entries(source))
      expect([folder, contents(destination[folder])]).toEqual([folder, contents(stored)])
  }

  it(
    `has everything once after ${TIMES} times at random points (33, 34)`,
    { timeout: SECONDS },
    async () => {
      for (let time = 0; time < TIMES; time++) {
        const user = `cut${time}`
        await to.addUser(user, 'secret')
        const isOver = new AbortController()
        const cutting = (async () => {
          for (let cuts = 0; cuts < 6; cuts++) {
            await sleep(30 + Math.random() * 150)
            if (isOver.signal.aborted) return
            proxies[Math.random() < 0.5 ? 0 : 1].cut()
          }
        })()
        const journal = createMemoryJournal()
        let outcome = await migrateTo(user, journal)
        if (outcome.stopped) {
          // The first connection of all is not renewed: somebody waits for the answer. Then it is
          // the same command again.
          journal.failures.length = 0
          outcome = await migrateTo(user, journal)
        }
        isOver.abort()
        await cutting
        expect(journal.failures).toEqual([])
        expect(outcome).toMatchObject({
          state: 'completed',
          progress: { messagesDone: 232, messagesTotal: 232 },
        })
        await expectEqual(user)
      }
    },
  )

  it.each(['toServer', 'toClient'] as const)(
    'copies everything once when cut after a number of bytes %s (34)',
    { timeout: SECONDS },
    async (direction) => {
      for (let time = 0; time < TIMES; time++) {
        const user = `${direction.toLowerCase()}${time}`
        await to.addUser(user, 'secret')
        proxies[1].cutAfter(
          direction,
          direction === 'toServer'
            ? 300 + Math.floor(Math.random() * 2_000_000)
            : 1_000 + Math.floor(Math.random() * 3_000),
        )
        const journal = createMemoryJournal()
        const outcome = await migrateTo(user, journal, { connections: 1 }).catch(
          (error: unknown) => error,
        )
        // The first connection of all is not renewed: somebody waits for the answer. Then it is the
        // same command again.
        if (!(outcome as { stopped?: null }).stopped)
          expect(outcome).toMatchObject({ state: 'completed' })
        else journal.failures.length = 0
        expect(await migrateTo(user, journal)).toMatchObject({ state: 'completed' })
        await expectEqual(user)
      }
    },
  )

  it(
    `continues when its process was killed ${TIMES} times (33)`,
    { timeout: SECONDS },
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'portreeve-killed-'))
      const path = join(folder, 'journal')
      await to.addUser('killed', 'secret')
      for (let time = 0; time < TIMES; time++) {
        const args = [
          join(import.meta.dirname, 'child.ts'),
          String(from.port),
          String(to.port),
          'killed',
          path,
        ]
        const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
        const ended = once(child, 'exit')
        await Promise.race([once(child.stdout, 'data'), ended])
        await sleep(Math.random() * (TIMES > 10 ? 120 : 300))
        child.kill('SIGKILL')
        await ended
      }
      const journal = openFileJournal(path)
      expect(await migrateTo('killed', journal)).toMatchObject({ state: 'completed' })
      expect(journal.failures).toEqual([])
      journal.close()
      await expectEqual('killed')
      rmSync(folder, { recursive: true })
    },
  )
})
