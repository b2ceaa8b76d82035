import { describe, expect, it } from 'vitest'
import { decodeText } from '../../../src/migration/batches/parse/decode-text.ts'
import { readMailboxes } from '../../../src/migration/batches/parse/read-mailboxes.ts'

const HOSTS = { source: { host: 'old.example' }, destination: { host: 'new.example' } }

/** The accounts of one line in short: `user@host:port(+ for TLS)/password`. */
function short(text: string, options: Parameters<typeof readMailboxes>[1] = HOSTS): string[] {
  return readMailboxes(text, options).mailboxes.map((mailbox) => {
    if (mailbox.problem !== null) return `${mailbox.line}: ${mailbox.problem}`
    const side = (name: 'source' | 'destination') => {
      const { user, host, port, secure } = mailbox[name]
      return `${user}|${host}:${port}${secure ? '+' : ''}|${mailbox.passwords[name]}`
    }
    return `${side('source')} → ${side('destination')}`
  })
}

describe('a list of mailboxes', () => {
  it.each([
    [
      'imapsync',
      'h1.example;alice;p"w1;h2.example;alice@new;pw,2;\n# a comment\nh1.example;bob;x;h2.example;bob@new;y;--ssl1;\n',
      [
        'alice|h1.example:993+|p"w1 → alice@new|h2.example:993+|pw,2',
        'bob|h1.example:993+|x → bob@new|h2.example:993+|y',
      ],
    ],
    [
      'imapsync',
      'host001_1;user001_1;"password;host001_2;user001_2;pass"word;\nhost002_1;b;x;host002_2;c;"y";\n',
      [
        'user001_1|host001_1:993+|"password → user001_2|host001_2:993+|pass"word',
        'b|host002_1:993+|x → c|host002_2:993+|"y"',
      ],
    ],
    [
      'imapsync',
      'h1.example,alice,"p,w",h2.example,bob,x\n',
      ['alice|h1.example:993+|p,w → bob|h2.example:993+|x'],
    ],
    [
      'microsoft',
      'EmailAddress,UserName,Password,UserRoot\na@new.example,alice,"pa,""ss",/x\n',
      ['alice|old.example:993+|pa,"ss → a@new.example|new.example:993+|pa,"ss'],
    ],
    [
      'migrationwiz',
      'Source Email,Source Login Name,Source Password,Destination Email,Destination Login Name,Destination Password\na@old,DOM\\a,one,a@new,,two\n',
      ['DOM\\a|old.example:993+|one → a@new|new.example:993+|two'],
    ],
    [
      'nethserver',
      'localusername,remoteusername,remotepassword,remotehostname,remoteport,security\na@new,a,pw,mail.old.example,143,tls\n',
      ['a|mail.old.example:143|pw → a@new|new.example:993+|pw'],
    ],
    [
      'headers',
      'source_host;source_port;source_user;source_password;destination_user;destination_password\nold.example;143;a;one;b;two\n',
      ['a|old.example:143|one → b|new.example:993+|two'],
    ],
    [
      'headers',
      'Password\tE-Mail\ns3;cr,et\ta@example.com\n',
      ['a@example.com|old.example:993+|s3;cr,et → a@example.com|new.example:993+|s3;cr,et'],
    ],
  ])('is read in the format %s', (format, text, expected) => {
    expect(readMailboxes(text, HOSTS).format).toBe(format)
    expect(short(text, { ...HOSTS, samePassword: true })).toEqual(expected)
  })

  it('is read by the columns that a person names, where nothing else tells', () => {
    const text = 'a@old.example,a@new.example,pw\nb@old.example,b@new.example,pw\n'
    const { format, columns, header, sample } = readMailboxes(text)
    expect({ format, columns, header, sample }).toEqual({
      format: 'unknown',
      columns: [null, null, null],
      header: null,
      sample: ['a@old.example', 'a@new.example', '••••••'],
    })
    const mapped = { ...HOSTS, columns: ['sourceUser', 'destinationUser', 'password'] as const }
    expect(short(text, { ...mapped, columns: [...mapped.columns] })[1]).toBe(
      'b@old.example|old.example:993+|pw → b@new.example|new.example:993+|pw',
    )
  })

  it('gives each wrong line its own error and reads the others', () => {
    const text = [
      'source_host,source_port,source_security,source_user,password,destination_host,destination_user',
      'old.example,,,alice,pw,new.example,alice',
      'old.example,,,"open,pw,new.example,b',
      'old.example,99999,,carol,pw,new.example,c',
      'not a host,,maybe,,pw,new.example,d',
      'OLD.example,,,ALICE,other,new.example,e',
      'old.example,,,frank,pw,new.example,Alice',
      'same.example,,,grace,pw,same.example,Grace',
      'old.example,,starttls,last,pw,new.example,last',
    ].join('\r\n')
    const { mailboxes } = readMailboxes(text)
    expect(mailboxes.map(({ line, problem, warning }) => [line, problem, warning])).toEqual([
      [2, null, null],
      [3, 'A quotation mark is not closed.', null],
      [4, 'The source port must be a number from 1 to 65535.', null],
      [
        5,
        'The source security must be “ssl” or “starttls”. The source host is not valid. The source user is missing.',
        null,
      ],
      [6, 'The source is the same as in line 2.', null],
      [7, null, 'The destination is the same as in line 2.'],
      [8, 'The source and the destination are the same mailbox.', null],
      [9, null, null],
    ])
    expect(mailboxes.at(-1)?.source).toMatchObject({ port: 143, secure: false })
  })

  it.each([
    ['UTF-8 with a byte order mark', Buffer.from('\uFEFFuser,password\njörg,ß€\n')],
    ['UTF-16 little-endian', Buffer.from('\uFEFFuser,password\njörg,ß€\n', 'utf16le')],
    ['UTF-16 big-endian', Buffer.from('\uFEFFuser,password\njörg,ß€\n', 'utf16le').swap16()],
    ['UTF-16 without a mark', Buffer.from('user,password\njörg,ß€\n', 'utf16le')],
    ['Windows-1252', Buffer.from('user,password\nj\xf6rg,\xdf\x80\n', 'latin1')],
  ])('is decoded from %s', (_name, bytes) => {
    expect(short(decodeText(bytes))).toEqual([
      'jörg|old.example:993+|ß€ → jörg|new.example:993+|ß€',
    ])
  })

  it('has a bounded number of lines and columns', () => {
    expect(() => readMailboxes(' \n')).toThrow('The file has no lines.')
    expect(() => readMailboxes('a,b\n'.repeat(5_002))).toThrow('more than 5,000 lines')
    const wide = `user,password\n${'x,'.repeat(60)}\n`
    expect(short(wide)).toEqual(['2: The line has more than 50 columns.'])
  })
})
