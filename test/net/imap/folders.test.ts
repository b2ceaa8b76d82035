import { describe, expect, it, onTestFinished } from 'vitest'
import { createFolder, subscribe } from '../../../src/net/imap/folders/create-folder.ts'
import { readQuota } from '../../../src/net/imap/folders/imap-quota.ts'
import { listFolders, type FolderListing } from '../../../src/net/imap/folders/list-folders.ts'
import { ImapLost, ImapRefused } from '../../../src/net/imap/connection/refusals.ts'
import { startDovecot } from '../../servers/dovecot.ts'
import { startImapFake, type Script } from '../../servers/imap-fake.ts'
import { signInTo } from './account.ts'

const ALL = [
  '* LIST (\\HasChildren) "/" INBOX',
  '* LIST (\\Noselect) "/" "Projekte"',
  '* LIST () "/" "Projekte/Gr&APYA3w-e"',
]

async function listingOf(
  script: Script,
  capability = 'IMAP4rev1 NAMESPACE',
): Promise<FolderListing> {
  const fake = await startImapFake({ script, capability })
  onTestFinished(() => fake.close())
  return listFolders(await signInTo(fake.port))
}

/** A server with these folders that answers LIST only in the forms that `allows` takes. */
function withFolders(allows: (form: string) => boolean, refusal: 'no' | 'bad' = 'no'): Script {
  return ({ name, args }, reply) => {
    if (name === 'STATUS' && /INBOX|Gr/.test(args)) {
      reply.say(`* STATUS ${args.split(' (')[0]} (MESSAGES 3 UNSEEN 1)`)
      reply.ok()
    } else if (name === 'STATUS') reply.no("Mailbox doesn't exist")
    else if (!['LIST', 'LSUB', 'XLIST'].includes(name)) return false
    else if (allows(`${name} ${args}`)) {
      reply.say(...levelOf(args).map((line) => line.replace('LIST', name)))
      reply.ok()
    } else if (refusal === 'no') reply.no('LIST failed')
    else reply.bad('Error in IMAP command LIST')
    return true
  }
}

function levelOf(args: string): string[] {
  if (args === '"" "%"') return ALL.slice(0, 2)
  if (args === '"" "Projekte/%"') return ALL.slice(2)
  return args.endsWith('%"')
    ? []
    : args.startsWith('"INBOX"') || args.includes('INBOX')
      ? ALL.slice(0, 1)
      : ALL
}

const brief = ({ folders, listFailed, usedFallback, statusOnly }: FolderListing) => [
  folders
    .map(({ path }) => path)
    .toSorted()
    .join(' '),
  { listFailed, usedFallback, statusOnly },
]

const sorted = <T>(rows: T[][]): T[][] =>
  rows.toSorted((a, b) => (String(a[0]) < String(b[0]) ? -1 : 1))

const EVERYTHING = 'INBOX Projekte Projekte/Größe'
const PLAIN = { listFailed: false, usedFallback: false, statusOnly: false }
const FALLBACK = { listFailed: true, usedFallback: true, statusOnly: false }

describe('the ways to list folders (case 9)', () => {
  it.each(['no', 'bad'] as const)(
    'finds them when a server answers %s to the usual form',
    async (refusal) => {
      const forms: [string, (form: string) => boolean, unknown[]][] = [
        ['plain', () => true, [EVERYTHING, PLAIN]],
        ['level by level', (form) => /^LIST .*%"$/.test(form), [EVERYTHING, FALLBACK]],
        ['patterns below INBOX', (form) => /^LIST "INBOX" "\*"$/.test(form), ['INBOX', FALLBACK]],
        ['subscriptions', (form) => form.startsWith('LSUB'), [EVERYTHING, FALLBACK]],
      ]
      for (const [name, allows, expected] of forms) {
        expect(brief(await listingOf(withFolders(allows, refusal))), name).toEqual(expected)
      }
    },
  )

  it('repeats LIST without RETURN when a server does not support it after all', async () => {
    const capability = 'IMAP4rev1 NAMESPACE LIST-EXTENDED LIST-STATUS SPECIAL-USE'
    const listing = await listingOf(
      withFolders((form) => !form.includes('RETURN'), 'bad'),
      capability,
    )
    expect(brief(listing)).toEqual([EVERYTHING, PLAIN])
    expect(listing.folders.map(({ messages, unseen }) => [messages, unseen])).toEqual([[3, 1], [null, null], [3, 1]]) // prettier-ignore
  })

  it('uses XLIST where there is one', async () => {
    const script = withFolders((form) => form.startsWith('XLIST'))
    expect(brief(await listingOf(script, 'IMAP4rev1 NAMESPACE XLIST'))).toEqual([
      EVERYTHING,
      FALLBACK,
    ])
  })

  it('tries well-known names in many languages with either delimiter, when only STATUS works (case 10)', async () => {
    const there = [
      'INBOX',
      'INBOX.Gesendet',
      'INBOX.Entw&APw-rfe',
      '&BB4EQgQ,BEAEMAQyBDsENQQ9BD0ESwQ1-',
    ]
    const listing = await listingOf(({ name, args }, reply) => {
      if (['LIST', 'LSUB'].includes(name)) reply.no('LIST failed')
      else if (name !== 'STATUS') return false
      else if (/UNSEEN/.test(args)) reply.bad('what is UNSEEN?')
      else if (there.some((each) => args.startsWith(`"${each}" `))) {
        reply.say(`* STATUS ${args.split(' (')[0]} (MESSAGES 0)`)
        reply.ok()
      } else reply.no("Mailbox doesn't exist")
      return true
    })
    const names = listing.folders.map(({ path, specialUse, delimiter, messages }) => [
      path,
      specialUse,
      delimiter,
      messages,
    ])
    expect(sorted(names)).toEqual([
      ['INBOX', '\\Inbox', '.', 0],
      ['INBOX.Entwürfe', '\\Drafts', '.', 0],
      ['INBOX.Gesendet', null, '.', 0],
      ['Отправленные', '\\Sent', '.', 0],
    ])
    expect(brief(listing)[1]).toEqual({ listFailed: true, usedFallback: true, statusOnly: true })
  })

  it('never treats an empty response or a truncated line as an account without folders (case 11)', async () => {
    const empty = await listingOf(({ name, args }, reply) => {
      if (name === 'STATUS') reply.say(`* STATUS ${args.split(' (')[0]} (MESSAGES 2)`)
      return false
    })
    expect(brief(empty)).toEqual([
      'INBOX',
      { listFailed: false, usedFallback: true, statusOnly: true },
    ])
    const cut = listingOf(({ name }, reply) => {
      if (name !== 'LIST') return false
      reply.raw(`${ALL[0]}\r\n* LIST (\\HasNo`)
      reply.hangUp()
      return true
    })
    await expect(cut).rejects.toBeInstanceOf(ImapLost)
  })

  it('never treats part of many folders as all of them', async () => {
    const crowded = listingOf(({ name }, reply) => {
      if (name !== 'LIST') return false
      reply.raw(
        Array.from({ length: 20_010 }, (_, n) => `* LIST () "/" "folder ${n}"\r\n`).join(''),
      )
      reply.ok()
      return true
    })
    const lost: unknown = await crowded.catch((thrown: unknown) => thrown)
    expect(lost instanceof ImapLost && lost.message).toContain('more than 20,000 folders')
  })

  it('tries no fallback for a server that asks to wait', async () => {
    const throttled = listingOf(({ name }, reply) => {
      if (name === 'LIST') reply.no('[THROTTLED] later')
      return name === 'LIST'
    })
    await expect(throttled).rejects.toBeInstanceOf(ImapRefused)
  })

  it('keeps the exact bytes of every name', async () => {
    const raw = 'Gr\xf6\xdfe'
    const listing = await listingOf(({ name }, reply) => {
      if (name !== 'LIST') return false
      reply.say(
        '* LIST () "/" "bad&"',
        Buffer.from(`* LIST () "/" "${raw}"`, 'latin1'),
        '* LIST () "/" {5}',
      )
      reply.say('a"\\b ')
      reply.ok()
      return true
    })
    expect(listing.folders.map(({ pathAsListed }) => pathAsListed)).toEqual([
      'INBOX',
      'bad&',
      raw,
      'a"\\b ',
    ])
  })
})

describe('a folder that the server rejects', () => {
  it('exists when STATUS finds it, whatever the response is, and is rejected otherwise (case 8)', async () => {
    const fake = await startImapFake({
      script({ name, args }, reply) {
        if (name !== 'STATUS' && name !== 'CREATE') return false
        if (name === 'CREATE' || !args.startsWith('"There"')) reply.no('It cannot be')
        else {
          reply.say('* STATUS "There" (MESSAGES 0)')
          reply.ok()
        }
        return true
      },
    })
    try {
      const { wire } = await signInTo(fake.port)
      expect(await createFolder(wire, 'There')).toBe('existed')
      await expect(createFolder(wire, 'Nowhere')).rejects.toThrow('It cannot be')
    } finally {
      await fake.close()
    }
  })
})

describe('folders of a real server', () => {
  it('have counts, subscriptions, special uses, and are made once (cases 5, 8, 12)', async () => {
    const server = await startDovecot({
      prefix: 'INBOX.',
      separator: '.',
      layout: 'maildir',
      quota: '10M',
    })
    onTestFinished(() => server.stop())
    await server.addUser('alice', 'secret')
    const session = await signInTo(server.port)
    const { wire } = session
    expect(session.namespace).toEqual({ prefix: 'INBOX.', delimiter: '.' })
    expect(await createFolder(wire, 'INBOX.Sent')).toBe('created')
    expect(await createFolder(wire, 'INBOX.Sent')).toBe('existed')
    expect(await createFolder(wire, 'INBOX.L&APg-bende.a b')).toBe('created')
    expect(await subscribe(wire, 'INBOX.Sent')).toBe(true)
    await expect(createFolder(wire, 'INBOX.a..b')).rejects.toBeInstanceOf(ImapRefused)
    const { folders } = await listFolders(session)
    const told = folders.map(({ path, name, specialUse, subscribed, messages }) => [
      path,
      name,
      specialUse,
      subscribed,
      messages,
    ])
    expect(sorted(told)).toEqual([
      ['INBOX', 'INBOX', '\\Inbox', false, 0],
      ['INBOX.Løbende', 'Løbende', null, false, null],
      ['INBOX.Løbende.a b', 'a b', null, false, 0],
      ['INBOX.Sent', 'Sent', '\\Sent', true, 0],
    ])
    expect(await readQuota(wire)).toEqual({ used: 0, limit: 10 * 1024 * 1024 })
    await wire.logout()
  })
})
