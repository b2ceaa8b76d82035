import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { accountOn, fill } from '../migration/mailbox.ts'
import { startDovecot } from '../servers/dovecot.ts'
import { startImapFake, type ImapFake } from '../servers/imap-fake.ts'
import type { MailServer } from '../servers/mail-server.ts'
import { aggregate, mailWith } from './reports.ts'
import { startDmarc, type DmarcTest } from './module.ts'

describe('reading the mailboxes of several accounts', () => {
  let portreeve: DmarcTest
  let server: MailServer
  let tarpit: ImapFake
  const timers: NodeJS.Timeout[] = []

  beforeAll(async () => {
    ;[portreeve, server] = await Promise.all([
      startDmarc({ works: true, pollLimitMs: 8_000 }),
      startDovecot(),
    ])
    tarpit = await startImapFake({
      script({ name }, reply) {
        if (name !== 'SELECT') return false
        timers.push(setInterval(() => reply.say('* OK Still here'), 300))
        return true
      },
    })
  })
  afterAll(async () => {
    timers.forEach(clearInterval)
    await Promise.all([portreeve.stop(), server.stop(), tarpit.close()])
  })

  it('does not wait for one account’s endless servers', { timeout: 60_000 }, async () => {
    const [alice, bob] = [await portreeve.addPerson('Alice'), await portreeve.addPerson('Bob')]
    const { id } = await portreeve.addDomain(bob.token)
    await server.addUser('reports', 'secret')
    await fill(accountOn(server.port, 'reports'), {
      INBOX: [{ body: mailWith({ attachment: aggregate() }) }],
    })
    const at = (port: number, user: string) => ({
      host: '127.0.0.1',
      port,
      secure: false,
      user,
      password: 'secret',
    })
    for (let n = 0; n < 20; n++) {
      expect(
        (await portreeve.ask('mailboxes', { ...alice, body: at(tarpit.port, `x${n}`) })).status,
      ).toBe(201)
    }
    await vi.waitFor(() => expect(timers.length).toBeGreaterThanOrEqual(8), 10_000)
    const begun = performance.now()
    await portreeve.ask('mailboxes', { ...bob, body: at(server.port, 'reports') })
    const total = async () => (await portreeve.ask(`domains/${id}`, bob)).body.data.totalReports
    await vi.waitFor(async () => expect(await total()).toBe(1), { timeout: 20_000, interval: 100 })
    // Twenty reads of eight seconds, eight at once: strictly in turn they would take twice as long.
    expect(performance.now() - begun).toBeLessThan(16_000)
    // A read that takes too long is ended, and its owner gets an alert.
    await vi.waitFor(
      async () => {
        const { body } = await portreeve.ask('mailboxes', alice)
        const errors = (body.data as { lastError: string | null }[]).map(
          ({ lastError }) => lastError ?? '',
        )
        expect(
          errors.filter((error) => error.includes('sent no message before the time limit')),
        ).not.toEqual([])
      },
      { timeout: 25_000, interval: 200 },
    )
  })
})
