import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createLog } from '../../src/log.ts'
import { createMemoryJournal } from '../../src/migration/engine/journal/memory-journal.ts'
import { migrateMailbox } from '../../src/migration/engine/migrate.ts'
import { openStoreSession } from '../../src/migration/files/server/serve-store.ts'
import type { StoreFolder } from '../../src/migration/files/mail-files.sql.ts'
import { startDovecot } from '../servers/dovecot.ts'
import type { MailServer } from '../servers/mail-server.ts'
import { startProxy, type Proxy } from '../servers/proxy.ts'
import { accountOn, mail, read } from './mailbox.ts'
import { waitTimes } from './run.ts'

const FIRST = 100
const LATER = [400, 0, 700]
const COUNT = 1_200

let server: MailServer
let proxy: Proxy

beforeAll(async () => {
  server = await startDovecot()
  proxy = await startProxy(server.port)
})
afterAll(async () => {
  await proxy.close()
  await server.stop()
})

const hashOf = (body: Buffer) => createHash('sha256').update(body).digest('hex')

/** Mail in memory that gets more messages whenever a migration asks for them. */
function growingMail() {
  const folder: StoreFolder = { path: 'Mail', uidValidity: 7, uidNext: 1, messages: [], bytes: 0 }
  const bodies: Buffer[] = []
  function add(count: number): void {
    for (let n = 0; n < count; n++) {
      const body = mail(900)
      bodies.push(body)
      folder.messages.push({
        uid: folder.uidNext,
        size: body.length,
        flags: ['\\Seen'],
        date: ' 1-Jul-2024 08:09:10 +0200',
        messageId: /^Message-ID: (.*)\r$/m.exec(body.toString('latin1'))?.[1] ?? null,
        read: () => [body],
        fill: (target) => void body.copy(target),
      })
      folder.uidNext += 1
      folder.bytes += body.length
    }
  }
  add(FIRST)
  const waiting = [...LATER]
  return {
    folder,
    hashes: () => bodies.map(hashOf).toSorted(),
    async arriving(): Promise<number | null> {
      const next = waiting.shift()
      if (next === undefined) return null
      // As long as reading takes, so that the destination has nothing to do.
      await new Promise((resolve) => setTimeout(resolve, 100))
      add(next)
      return folder.bytes
    },
  }
}

type Growing = ReturnType<typeof growingMail>

async function copy(
  source: Growing,
  user: string,
  journal = createMemoryJournal(),
  signal = new AbortController().signal,
) {
  const store = { folders: new Map([['Mail', source.folder]]) }
  return migrateMailbox({
    source: { account: accountOn(1), openSession: () => openStoreSession(store) },
    destination: { account: accountOn(proxy.port, user) },
    folders: ['Mail'],
    options: { withNewMail: true },
    arriving: () => source.arriving(),
    journal,
    signal,
    waitTimes,
    log: createLog('silent'),
  })
}

async function copiesOf(user: string): Promise<string[]> {
  const { Mail = [] } = await read(accountOn(server.port, user))
  return Mail.map(({ hash }) => hash).toSorted()
}

describe('a source that grows while it is copied', () => {
  it('is copied in one run, with more connections once there is more to copy', async () => {
    await server.addUser('grows', 'secret')
    const source = growingMail()
    const journal = createMemoryJournal()
    const before = proxy.connections()
    const { state, progress } = await copy(source, 'grows', journal)
    expect([state, progress.messagesDone, progress.messagesTotal]).toEqual([
      'completed',
      COUNT,
      COUNT,
    ])
    expect([progress.bytesDone, progress.bytesTotal]).toEqual([
      source.folder.bytes,
      source.folder.bytes,
    ])
    expect(proxy.connections() - before).toBeGreaterThan(1)
    expect(await copiesOf('grows')).toEqual(source.hashes())
    // A later run knows all of them.
    expect((await journal.load('Mail'))?.sourceUidNext).toBe(COUNT + 1)
    expect((await copy(source, 'grows', journal)).state).toBe('completed')
    expect(await copiesOf('grows')).toHaveLength(COUNT)
  })

  it('is copied once although the run is stopped and another one continues', async () => {
    await server.addUser('stopped', 'secret')
    const source = growingMail()
    const journal = createMemoryJournal()
    const stop = new AbortController()
    let asked = 0
    const stopping = {
      ...source,
      arriving: async () => {
        if ((asked += 1) === LATER.length) stop.abort(new Error('stopped'))
        return source.arriving()
      },
    }
    await expect(copy(stopping, 'stopped', journal, stop.signal)).rejects.toThrow('stopped')
    expect((await journal.load('Mail'))?.sourceUidNext).toBe(501)
    expect((await copy(source, 'stopped', journal)).state).toBe('completed')
    expect(await copiesOf('stopped')).toEqual(source.hashes())
  })

  it.each([60_000, 400_000, 1_000_000])(
    'is copied once although a connection is cut after %i bytes',
    async (bytes) => {
      const user = `cut${bytes}`
      await server.addUser(user, 'secret')
      const source = growingMail()
      proxy.cutAfter('toServer', bytes)
      const before = proxy.connections()
      const { state, progress } = await copy(source, user)
      expect([state, progress.messagesDone]).toEqual(['completed', COUNT])
      expect(proxy.connections() - before).toBeGreaterThan(1)
      expect(await copiesOf(user)).toEqual(source.hashes())
    },
  )
})
