import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { NewAlert } from '../../src/alerts/raise.ts'
import { accountOn, fill, inside, read } from '../migration/mailbox.ts'
import { searchUids, select } from '../../src/net/imap/folders/mailbox.ts'
import { startDovecot } from '../servers/dovecot.ts'
import type { MailServer } from '../servers/mail-server.ts'
import { aggregate, mailWith } from './reports.ts'
import { startDmarc, type Person, type DmarcTest } from './module.ts'

const LETTER =
  'From: friend@example.org\r\nSubject: dinner\r\nMessage-ID: <d@x>\r\n\r\nTonight?\r\n'

describe('reading reports from a mailbox', () => {
  let portreeve: DmarcTest
  let server: MailServer
  let alice: Person
  let domainId: string
  let user: string
  let users = 0
  const alerts: NewAlert[] = []

  beforeAll(async () => {
    const raiseAlert = async (_db: unknown, alert: NewAlert) => alerts.push(alert) > 0
    ;[portreeve, server] = await Promise.all([startDmarc({ raiseAlert }), startDovecot()])
  })
  afterAll(async () => {
    await Promise.all([portreeve.stop(), server.stop()])
  })
  beforeEach(async () => {
    await portreeve.pool.query('delete from dmarc_mailbox')
    alice = await portreeve.addPerson('Alice')
    ;({ id: domainId } = await portreeve.addDomain(alice.token))
    user = `reports${(users += 1)}`
    await server.addUser(user, 'secret')
  })

  const account = () => accountOn(server.port, user)
  const settings = (over = {}) => ({
    host: '127.0.0.1',
    port: server.port,
    secure: false,
    user,
    password: 'secret',
    ...over,
  })
  const add = async (over = {}) =>
    (await portreeve.ask('mailboxes', { ...alice, body: settings(over) })).body.data
  const reports = async () =>
    (await portreeve.ask(`domains/${domainId}/reports`, alice)).body.data.pagination.total
  const mailbox = async () => (await portreeve.ask('mailboxes', alice)).body.data[0]
  const report = () => ({ body: mailWith({ attachment: aggregate() }) })

  it('stores reports, marks their messages as seen, and leaves other messages unchanged', async () => {
    await fill(account(), { INBOX: [report(), { body: LETTER }, report()] })
    await add()
    await portreeve.run('dmarc.fetch')
    expect(await reports()).toBe(2)
    const { INBOX } = await read(account())
    expect(INBOX?.map(({ flags }) => flags)).toEqual([['\\Seen'], [], ['\\Seen']])
    expect(await mailbox()).toMatchObject({
      totalMessages: 3,
      lastError: null,
      fetchedAt: expect.stringMatching(/^20/),
    })
    const { body } = await portreeve.ask('rejected', alice)
    expect(body.data.rejected).toMatchObject([{ name: 'dinner', via: 'mailbox', kept: false }])
  })

  it('reads every message once, and later messages at the next read', async () => {
    await fill(account(), { INBOX: [report()] })
    await add()
    await portreeve.run('dmarc.fetch')
    await fill(account(), { INBOX: [report()] })
    await portreeve.run('dmarc.fetch')
    await portreeve.run('dmarc.fetch')
    expect(await reports()).toBe(2)
    expect(await mailbox()).toMatchObject({ totalMessages: 2 })
  })

  it('moves messages with stored reports to the configured folder', async () => {
    await fill(account(), { INBOX: [report(), { body: LETTER }] })
    await add({ moveTo: 'Reports/Done' })
    await portreeve.run('dmarc.fetch')
    const folders = await read(account())
    expect(folders['INBOX']).toHaveLength(1)
    expect(folders['Reports/Done']).toHaveLength(1)
  })

  it('leaves a message whose report could not be stored, and reads it again next time', async () => {
    await fill(account(), { INBOX: [report()] })
    await add({ moveTo: 'Done' })
    await portreeve.pool.query('alter table dmarc_records rename to dmarc_records_away')
    await expect(portreeve.run('dmarc.fetch')).rejects.toThrow(/dmarc_records/)
    await portreeve.pool.query('alter table dmarc_records_away rename to dmarc_records')
    expect((await read(account()))['INBOX']).toHaveLength(1)
    expect(await reports()).toBe(0)
    await portreeve.run('dmarc.fetch')
    expect(await reports()).toBe(1)
    expect((await read(account()))['INBOX']).toHaveLength(0)
  })

  it('shows why a mailbox fails, and raises an alert after hours of failure', async () => {
    const { id } = await add({ password: 'wrong' })
    await portreeve.run('dmarc.fetch')
    expect(await mailbox()).toMatchObject({
      lastError: expect.stringMatching(/\w/),
      failingSince: expect.stringMatching(/^20/),
    })
    expect(alerts).toEqual([])
    await portreeve.pool.query(
      "update dmarc_mailbox set failing_since = now() - interval '7 hours' where id = $1",
      [id],
    )
    await portreeve.run('dmarc.fetch')
    expect(alerts).toMatchObject([
      { workspaceId: alice.id, kind: 'dmarc.mailbox', path: '/dmarc/mailboxes' },
    ])
  })

  it('never returns a password, and stores it encrypted', async () => {
    await add()
    const { body } = await portreeve.ask('mailboxes', alice)
    expect(JSON.stringify(body)).not.toMatch(/secret|sealed/)
    const { rows } = await portreeve.pool.query('select sealed from dmarc_mailbox')
    expect(rows[0].sealed).toMatch(/^v1\./)
  })

  it('rejects a private address, and a line break in an IMAP argument', async () => {
    for (const host of ['10.1.2.3', '[fd00::1]', '169.254.169.254']) {
      const refused = await portreeve.ask('mailboxes', { ...alice, body: settings({ host }) })
      expect([refused.status, refused.body.code]).toEqual([403, 'target_not_allowed'])
    }
    expect(await mailbox()).toBeUndefined()
    const { id } = await add()
    await portreeve.pool.query("update dmarc_mailbox set host = '10.1.2.3' where id = $1", [id])
    await portreeve.run('dmarc.fetch')
    expect(await mailbox()).toMatchObject({ lastError: expect.stringContaining('10.1.2.3') })
    const broken = await portreeve.ask('mailboxes', {
      ...alice,
      body: settings({ user: 'a\r\nb' }),
    })
    expect(broken.status).toBe(400)
  })

  it('is visible to its owner only, and only its owner can delete it', async () => {
    const { id } = await add()
    const charlie = await portreeve.addPerson('Charlie')
    expect((await portreeve.ask('mailboxes', charlie)).body.data).toEqual([])
    for (const [path, method] of [
      [`mailboxes/${id}`, 'DELETE'],
      [`mailboxes/${id}/fetch`, 'POST'],
    ] as const) {
      expect((await portreeve.ask(path, { ...charlie, method })).status).toBe(404)
      expect((await portreeve.ask(path, { method })).status).toBe(401)
    }
    expect(
      (await portreeve.ask(`mailboxes/${id}/fetch`, { ...alice, method: 'POST' })).status,
    ).toBe(200)
    expect((await portreeve.ask(`mailboxes/${id}`, { ...alice, method: 'DELETE' })).status).toBe(
      200,
    )
    expect((await portreeve.ask('mailboxes', alice)).body.data).toEqual([])
  })

  it('starts over when the server has recreated the folder', async () => {
    await fill(account(), { INBOX: [report()] })
    await add()
    await portreeve.run('dmarc.fetch')
    await portreeve.pool.query(
      'update dmarc_mailbox set uid_validity = uid_validity - 1, last_uid = 1000',
    )
    await portreeve.run('dmarc.fetch')
    expect(await mailbox()).toMatchObject({ totalMessages: 2 })
    expect(await reports()).toBe(1)
    const uids = await inside(account(), async ({ wire }) => {
      await select(wire, 'INBOX')
      return searchUids(wire, 'ALL')
    })
    expect(uids).toHaveLength(1)
  })
})
