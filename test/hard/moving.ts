import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { accountOn, contents, fill, mail, read } from '../migration/mailbox.ts'
import { startDovecot } from '../servers/dovecot.ts'
import { startProxy } from '../servers/proxy.ts'
import type { Place } from './place.ts'

/** Folders beside INBOX, which are copied together. */
const FILED = Array.from({ length: 20 }, (_, n) => `Filed/${n + 1}`)

/**
 * Starts a slow migration between two accounts of a real mail server. A quarter of the messages is
 * in small folders.
 */
export async function startMoving(mails: number, roundTrip = 100) {
  const server = await startDovecot()
  const slow = await startProxy(server.port, { roundTrip })
  for (const user of ['alice', 'there']) await server.addUser(user, 'secret')
  const filed = Math.floor(mails / 4 / FILED.length)
  const letters = (count: number) => Array.from({ length: count }, () => ({ body: mail(6_000) }))
  await fill(accountOn(server.port), {
    INBOX: letters(mails - filed * FILED.length),
    ...Object.fromEntries(FILED.map((folder) => [folder, letters(filed)])),
  })
  const side = (user: string, port: number) => ({
    host: '127.0.0.1',
    port,
    secure: false,
    user,
    password: 'secret',
  })
  const request = {
    source: side('alice', server.port),
    destination: side('there', slow.port),
    folders: ['INBOX', ...FILED],
  }
  return {
    request,
    async begin(place: Place): Promise<string> {
      const answer = await place.api('/api/v1/imap/migrate', 'POST', request)
      return ((await answer.json()) as { migrationId: string }).migrationId
    },
    /** Waits for the end, and compares both sides. */
    async isWhole(place: Place, id: string): Promise<void> {
      expect(await endOf(place, id)).toMatchObject({ status: 'completed' })
      const at = async (user?: string) => {
        const folders = await read(accountOn(server.port, user))
        return ['INBOX', ...FILED].map((folder) => contents(folders[folder]))
      }
      expect(await at('there')).toEqual(await at())
    },
    async stop() {
      await slow.close()
      await server.stop()
    },
  }
}

export type Ended = { status: string; progress: { errors: { code: string; message: string }[] } }

/** Returns a migration’s row when it has ended. */
export async function endOf(place: Place, id: string, patience = 150_000): Promise<Ended> {
  const until = performance.now() + patience
  for (;;) {
    const row = (await (await place.api(`/api/v1/imap/migrate/${id}`)).json()) as Ended
    if (row.status === 'completed' || row.status === 'failed') return row
    if (performance.now() > until)
      throw new Error(`the migration does not end: ${JSON.stringify(row).slice(0, 500)}`)
    await sleep(250)
  }
}
