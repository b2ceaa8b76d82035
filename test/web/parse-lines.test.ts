import { describe, expect, it } from 'vitest'
import { parseLines, type ImportKind } from '../../web/src/imports/parse-lines.ts'

const parse = (text: string, kind: ImportKind = 'hosts') =>
  parseLines(text, kind).map(({ name, label, problem }) => [name, label, problem?.kind ?? null])
const nameOf = (text: string) => parse(text)[0]?.[0]

describe('pasted names', () => {
  it.each([
    ['mail.example.com', 'mail.example.com'],
    ['MAIL.Example.COM.', 'mail.example.com'],
    ['https://www.example.com:8443/a/b?c#d', 'www.example.com'],
    ['imap.example.com:993', 'imap.example.com'],
    ['mailto:postmaster@example.com', 'example.com'],
    ['postmaster@example.com', 'example.com'],
    ['Post Master <postmaster@example.com>', 'example.com'],
    ['ftp://user:secret@files.example.com/x', 'files.example.com'],
    ['192.0.2.25', '192.0.2.25'],
    ['http://192.0.2.25:80/', '192.0.2.25'],
    ['2001:db8::1', '2001:db8::1'],
    ['[2001:DB8::1]:25', '2001:db8::1'],
    ['bücher.example', 'bücher.example'],
    ['mail.example.com # the old one', 'mail.example.com'],
    ['_dmarc.example.com', '_dmarc.example.com'],
  ])('reduces %s to its host', (text, name) => {
    expect(nameOf(text)).toBe(name)
    expect(parse(text)[0]?.[2]).toBe(null)
  })

  it('have a label after a comma, a semicolon or a tab', () => {
    expect(
      parse(
        'a.example, outgoing mail\nb.example;shop\nc.example\tnews, daily\n"d.example","x, ""y"""',
      ),
    ).toEqual([
      ['a.example', 'outgoing mail', null],
      ['b.example', 'shop', null],
      ['c.example', 'news, daily', null],
      ['d.example', 'x, "y"', null],
    ])
  })

  it('may be a file with a byte order mark, a heading, comments and empty lines', () => {
    expect(
      parse(
        '\uFEFFHost,Label\r\na.example,one\r\n\r\n# two\r\n; three\r\n// four\r\nb.example\r\n',
      ),
    ).toEqual([
      ['a.example', 'one', null],
      ['b.example', '', null],
    ])
  })

  it('keep the number of their line, also below comments', () => {
    const lines = parseLines('# first\n\na.example\nno host', 'hosts')
    expect(lines.map(({ line, problem }) => [line, problem?.kind])).toEqual([
      [3, undefined],
      [4, 'not-a-name'],
    ])
  })

  it.each([
    'not a host',
    'a..example',
    '-',
    '1.2.3',
    '256.1.1.1',
    'exa$mple.com',
    'http://',
    '@',
    `${'x'.repeat(64)}.example`,
  ])('say that %j is no host name', (text) => {
    // A single dash is a label of one character for the service to judge.
    expect(parse(text)[0]?.[2]).toBe(text === '-' ? null : 'not-a-name')
  })

  it('name the line that has the same host, in any spelling', () => {
    const lines = parseLines('bücher.example\nmail.example\nXN--BCHER-KVA.example.\n', 'hosts')
    expect(lines[2]?.problem).toEqual({ kind: 'duplicate', of: 1 })
  })

  it('must be domains where domains are added', () => {
    expect(
      parse('example.com\n192.0.2.1\nlocalhost\n2001:db8::1', 'domains').map((one) => one[2]),
    ).toEqual([null, 'not-a-domain', 'not-a-domain', 'not-a-domain'])
  })

  it('have labels of up to 100 characters', () => {
    expect(parse(`a.example,${'x'.repeat(101)}`)[0]?.[2]).toBe('label-too-long')
  })
})
