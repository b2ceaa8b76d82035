import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { accountOn, contents, fill, mail, read } from '../migration/mailbox.ts'
import { startDovecot } from '../servers/dovecot.ts'
import { startProxy } from '../servers/proxy.ts'
import type { Place } from './place.ts'

/** Starts a slow migration between two accounts of a real mail server. */
export async function startMoving(mails: number, roundTrip = 100) {
  const server = await startDovecot()
  const slow = await startProxy(server.port, { roundTrip })
  for (const user of ['alice', 'there']) await server.addUser(user, 'secret')
  await fill(accountOn(server.port), {
    INBOX: Array.from({ length: mails }, () => ({ body: mail(6_000) })),
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
    folders: ['INBOX'],
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
      const at = async (user?: string) =>
        contents((await read(accountOn(server.port, user)))['INBOX'])
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
