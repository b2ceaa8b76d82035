import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { Fault } from '../../../src/errors.ts'
import { createFolder } from '../../../src/net/imap/folders/create-folder.ts'
import { listFolders } from '../../../src/net/imap/folders/list-folders.ts'
import { ImapRefused } from '../../../src/net/imap/connection/refusals.ts'
import { stringOf } from '../../../src/net/imap/connection/response.ts'
import type { Administrator, SignIn } from '../../../src/net/imap/connection/imap-sign-in.ts'
import { startCyrus } from '../../servers/cyrus.ts'
import { startDovecot } from '../../servers/dovecot.ts'
import { startImapFake, type Script } from '../../servers/imap-fake.ts'
import type { MailServer } from '../../servers/mail-server.ts'
import { startProxy } from '../../servers/proxy.ts'
import { signInTo } from './account.ts'

/** A Dovecot with the master user `admin`. */
async function startDovecotWithMaster(extra = ''): Promise<MailServer> {
  const server = await startDovecot({
    masters: { admin: MASTER.password },
    extra,
  })
  await server.addUser('alice', 'secret')
  return server
}

const MASTER = { password: 'the master password' }
const byAuthzid: Administrator = { user: 'admin', method: 'authzid' }
const byName: Administrator = { user: 'admin', method: 'master' }

async function foldersOf(port: number, over: Partial<SignIn>): Promise<string[]> {
  const session = await signInTo(port, over)
  try {
    return (await listFolders(session)).folders.map(({ path }) => path).toSorted()
  } finally {
    await session.wire.logout()
  }
}

async function faultOf(port: number, over: Partial<SignIn>): Promise<Fault> {
  const thrown: unknown = await signInTo(port, over).catch((error: unknown) => error)
  if (thrown instanceof Fault) return thrown
  throw new Error(`no fault but ${String(thrown)}`)
}

describe('an administrator who signs in for a user of Dovecot', () => {
  let server: MailServer
  beforeAll(async () => {
    server = await startDovecotWithMaster()
    const { wire } = await signInTo(server.port)
    await createFolder(wire, 'Of alice')
    await wire.logout()
  })
  afterAll(() => server.stop())

  it('opens the user’s mailbox by authorization identity or combined name', async () => {
    const own = await foldersOf(server.port, {})
    expect(own).toContain('Of alice')
    for (const administrator of [byAuthzid, byName])
      expect(await foldersOf(server.port, { ...MASTER, administrator })).toEqual(own)
  })

  it('is rejected for a wrong password, an unknown user, and another separator', async () => {
    const wrong = [
      { password: 'wrong', administrator: byAuthzid },
      { ...MASTER, administrator: byAuthzid, user: 'nobody' },
      { ...MASTER, administrator: byName, user: 'nobody' },
      { ...MASTER, administrator: { ...byName, separator: '%' } },
    ]
    for (const over of wrong) {
      const { message, cause } = await faultOf(server.port, over)
      expect(message).toContain('refused the administrator’s password, or')
      expect(cause instanceof ImapRefused && cause.refusal.kind).toBe('sign_in')
    }
  })

  it('may not inject a line into a command', async () => {
    const administrator = { ...byName, user: 'admin\r\nA1 LOGOUT' }
    const { code, details } = await faultOf(server.port, { ...MASTER, administrator })
    expect([code, details]).toEqual([
      'invalid_request',
      [{ path: 'administrator.user', message: expect.any(String) as string }],
    ])
  })

  it('learns that access rights hide the mailbox, in place of an empty list', async () => {
    const strict = await startDovecotWithMaster(
      'mail_plugins = acl\nplugin {\n  acl = vfile\n}\nprotocol imap {\n  mail_plugins = acl imap_acl\n}',
    )
    onTestFinished(() => strict.stop())
    expect(await foldersOf(strict.port, {})).toContain('INBOX')
    const { message } = await faultOf(strict.port, { ...MASTER, administrator: byAuthzid })
    expect(message).toContain('not reading INBOX')
  })
})

describe('an administrator who signs in for a user of Cyrus', () => {
  let server: MailServer
  beforeAll(async () => {
    server = await startCyrus()
    for (const name of ['admin', 'alice', 'dotted.name']) await server.addUser(name, 'secret')
    const { wire } = await signInTo(server.port)
    await createFolder(wire, 'INBOX.Own')
    await wire.logout()
    await (await signInTo(server.port, { user: 'dotted.name' })).wire.logout()
  })
  afterAll(() => server.stop())

  it.each(['authzid', 'cyrus'] as const)('opens the user’s mailbox with %s', async (method) => {
    const administrator: Administrator = { user: 'admin', method }
    expect(await foldersOf(server.port, { administrator })).toEqual(['INBOX', 'INBOX.Own'])
    expect(await foldersOf(server.port, { administrator, user: 'dotted.name' })).toEqual(['INBOX'])
  })

  it('never enters an unknown name, which Cyrus would create', async () => {
    const administrator = byAuthzid
    const { message } = await faultOf(server.port, { user: 'alcie', administrator })
    expect(message).toContain('no mailbox of alcie')
    expect(await faultOf(server.port, { user: 'al*', administrator })).toMatchObject({
      code: 'invalid_request',
    })
    const admin = await signInTo(server.port, { user: 'admin' })
    const listed: string[] = []
    await admin.wire.run(['LIST "" "user.%"'], {
      data: (values) => values[0] === 'LIST' && listed.push(stringOf(values[3]) ?? '') > 0,
    })
    await admin.wire.logout()
    expect(listed).toContain('user.alice')
    expect(listed).not.toContain('user.alcie')
  })

  it('checks the mailbox once for all connections of an account', async () => {
    const proxy = await startProxy(server.port, { record: true })
    onTestFinished(() => proxy.close())
    const account = { administrator: { user: 'admin', method: 'cyrus' } as const }
    for (let connection = 0; connection < 3; connection += 1)
      await (await signInTo(proxy.port, account)).wire.logout()
    const sent = proxy.recorded('toServer').toString('latin1')
    expect(sent.match(/AUTHENTICATE|LOGIN/g)).toHaveLength(4)
  })
})

describe('a server that cannot sign in an administrator for a user', () => {
  it('is not entered as the administrator without SASL PLAIN', async () => {
    const fake = await startImapFake({ capability: 'IMAP4rev1 AUTH=LOGIN' })
    onTestFinished(() => fake.close())
    const { code, message } = await faultOf(fake.port, { ...MASTER, administrator: byAuthzid })
    expect([code, message]).toEqual(['upstream_rejected', expect.stringContaining('AUTH=PLAIN')])
    expect(fake.lines.join('\n')).not.toMatch(/AUTHENTICATE|LOGIN /)
  })
})

/** Answers a token sign-in with an error challenge, and then NO. */
function challenge(json: object, words: string): Script {
  return ({ name }, reply) => {
    if (name !== 'AUTHENTICATE') return false
    reply.say(`+ ${Buffer.from(JSON.stringify(json)).toString('base64')}`)
    reply.no(words)
    return true
  }
}

describe('a sign-in with an access token', () => {
  const token = { password: undefined, accessToken: 'the token' }

  it('prefers OAUTHBEARER, with an escaped user name (RFC 5801)', async () => {
    for (const [mechanisms, name, expected] of [
      ['AUTH=XOAUTH2 AUTH=OAUTHBEARER', 'OAUTHBEARER', 'n,a=a=2Cb=3Dc@example.org,\u0001'],
      ['AUTH=XOAUTH2', 'XOAUTH2', 'user=a,b=c@example.org\u0001'],
    ] as const) {
      const fake = await startImapFake({ capability: `IMAP4rev1 SASL-IR ${mechanisms}` })
      onTestFinished(() => fake.close())
      await signInTo(fake.port, { ...token, user: 'a,b=c@example.org' }).catch(() => {})
      const [, mechanism, initial = ''] =
        /AUTHENTICATE (\S+) (\S+)/.exec(fake.lines.join('\n')) ?? []
      expect(mechanism).toBe(name)
      const sent = Buffer.from(initial, 'base64').toString()
      expect(sent.startsWith(expected)).toBe(true)
      expect(sent.endsWith('\u0001auth=Bearer the token\u0001\u0001')).toBe(true)
    }
  })

  it.each([
    [{ status: 'invalid_token' }, 'expired or was revoked, or it belongs to another user'],
    [
      { status: '400', schemes: 'Bearer', scope: 'https://mail.google.com/' },
      'required scope: https://mail.google.com/',
    ],
    [{ status: 'insufficient_scope' }, 'lacks the permission for IMAP'],
  ])('explains the challenge %j', async (json, words) => {
    const fake = await startImapFake({
      capability: 'IMAP4rev1 AUTH=XOAUTH2',
      script: challenge(json, 'AUTHENTICATE failed.'),
    })
    onTestFinished(() => fake.close())
    const { message } = await faultOf(fake.port, token)
    expect(message).toContain(words)
    expect(message).toContain('AUTHENTICATE failed.')
  })

  it('explains a token that Exchange accepts for a mailbox it does not open', async () => {
    const fake = await startImapFake({
      capability: 'IMAP4rev1 NAMESPACE AUTH=XOAUTH2',
      script({ name }, reply) {
        if (name === 'AUTHENTICATE') reply.ok()
        else if (name === 'NAMESPACE') reply.bad('User is authenticated but not connected.')
        else return false
        return true
      },
    })
    onTestFinished(() => fake.close())
    expect((await faultOf(fake.port, token)).message).toContain('not for the mailbox of alice')
  })
})
