import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import type { CliCommand } from '../../src/cli/command.ts'
import { ROOT } from '../../src/cli/commands.ts'
import { helpText } from '../../src/cli/help/help-text.ts'
import { parseInput, findCommand, asksForHelp } from '../../src/cli/parse.ts'
import { closestWord, editDistance } from '../../src/cli/suggest.ts'
import { width } from '../../src/cli/terminal-text.ts'
import { VERSION } from '../../src/version.ts'
import { runInProcess, runPortreeve } from './command.ts'

type Path = [CliCommand, ...CliCommand[]]

const pathsBelow = (path: Path): Path[] => [
  path,
  ...(path.at(-1)?.subcommands ?? []).flatMap((command) => pathsBelow([...path, command])),
]
const paths = pathsBelow([ROOT])
const nameOf = (path: Path) => path.map(({ name }) => name).join(' ')

describe('a wrong command line', () => {
  it.each([
    ['check blocklist --jsno', 'unknown flag --jsno. Did you mean --json?'],
    ['check ssl a.test --startls smtp', 'unknown flag --startls. Did you mean --starttls?'],
    ['check dns a.test --nonsense', 'unknown flag --nonsense.'],
    ['check dns a.test --nonsense=x', 'unknown flag --nonsense.'],
    ['check dns a.test -x', 'unknown flag -x.'],
    ['--nonsense', 'unknown flag --nonsense.'],
    ['chekc dns a.test', 'unknown command chekc. Did you mean check?'],
    ['nonsense', 'unknown command nonsense.'],
    ['user crate', 'unknown command user crate. Did you mean create?'],
    ['user', 'user needs a command: create, setup-link, list,'],
    ['check', 'check needs a command: domain, dns, ssl, dmarc'],
    ['check dns', 'missing DOMAIN.'],
    ['check dns a.test b.test', 'unexpected argument b.test.'],
    ['check ssl a.test --port', '--port needs a value: --port N.'],
    ['check ssl a.test --port --json=x', '--port needs a value: --port N.'],
    ['check ssl a.test --port 1e3', '--port must be a number from 1 to 65535.'],
    ['check ssl a.test --starttls gopher', '--starttls must be one of smtp, imap,'],
    ['check dns a.test --json=yes', '--json takes no value.'],
    ['token create', 'missing --email EMAIL.'],
    ['completion basch', 'SHELL must be one of bash, zsh, fish. Did you mean bash?'],
    ['help user crate', 'unknown command user crate. Did you mean create?'],
  ])(
    '%j gets one line that names the mistake and the way out, and exit code 2',
    async (line, says) => {
      const { code, out, err } = await runInProcess(line.split(' '), {})
      const isJson = line.includes('--json ')
      expect([code, isJson ? '' : out]).toEqual([2, ''])
      expect(err).toMatch(/^Error: [^\n]+ Try: portreeve [^\n]+\n$/)
      expect(err).toContain(`Error: ${says}`)
    },
  )

  it('names the help of the command', async () => {
    expect((await runPortreeve(['check', 'blocklist', '--foo'], {})).err).toBe(
      'Error: unknown flag --foo. Try: portreeve check blocklist --help\n',
    )
  })

  it('is answered in JSON with --json', async () => {
    const { code, out, err } = await runPortreeve(['check', '--json'], {})
    expect([code, err, JSON.parse(out)]).toMatchObject([
      2,
      '',
      { success: false, code: 'invalid_request', suggestion: 'portreeve check example.com' },
    ])
  })

  it('prints no escape sequence that it contains', async () => {
    const { err } = await runInProcess(['\u001b[2Jx'], {})
    expect(err).not.toContain('\u001b')
  })

  it('names invalid settings, and where to correct them', async () => {
    const { code, err } = await runInProcess(['check', 'dns', 'a.test'], { PORT: 'x' })
    expect([code, err]).toEqual([2, expect.stringMatching(/^Error: .*PORT .* Try: correct them/)])
  })
})

describe('the parser', () => {
  const parse = (line: string) => parseInput(findCommand(ROOT, line.split(' ')))

  it('reads switches, values and operands in any order', () => {
    const expected = { operands: ['a.test'], json: true, flags: { port: 25, starttls: 'smtp' } }
    for (const line of [
      'check ssl a.test --port 25 --starttls smtp --json',
      'check ssl --json --port=25 --starttls=smtp a.test',
      '--json check ssl --port 25 --starttls smtp -- a.test',
    ])
      expect(parse(line)).toEqual(expected)
  })

  it('collects repeatable flags, and takes the last value of the others', () => {
    expect(parse('check dmarc a.test --ip 192.0.2.1 --ip=::1').flags).toEqual({
      ip: ['192.0.2.1', '::1'],
      selector: [],
    })
    expect(parse('check ssl a.test --port 1 --port 2').flags).toMatchObject({ port: 2 })
  })

  it('takes everything after -- as operands, and no help there', () => {
    const found = findCommand(ROOT, ['import-reports', '--', '--help', '-x'])
    expect(asksForHelp(found.args)).toBe(false)
    expect(parseInput(found).operands).toEqual(['--help', '-x'])
  })

  it('sends a bare domain to `check domain` where there is one, and an address to the blocklists', () => {
    const found: string[] = []
    const domain = { ...ROOT, name: 'domain', subcommands: [], run: async () => 0 }
    const check = ROOT.subcommands.find(({ name }) => name === 'check') ?? ROOT
    const root = {
      ...ROOT,
      subcommands: [{ ...check, subcommands: [...check.subcommands, domain] }],
    }
    for (const line of [
      'check example.com',
      'check --json example.com',
      'check 192.0.2.1',
      'check dns x',
    ]) {
      const { command, args } = findCommand(root, line.split(' '))
      found.push(`${command.name} ${args.join(' ')}`)
    }
    expect(found).toEqual([
      'domain example.com',
      'domain --json example.com',
      'blocklist 192.0.2.1',
      'dns x',
    ])
  })
})

describe('suggestions', () => {
  it('count inserted, removed, replaced and swapped letters', () => {
    expect([
      editDistance('chekc', 'check'),
      editDistance('', 'abc'),
      editDistance('lst', 'list'),
    ]).toEqual([1, 3, 1])
  })

  it('are close to the typed word, or none', () => {
    const known = ['backup', 'check', 'serve']
    expect(closestWord('bakup', known)).toBe('backup')
    expect(closestWord('ser', known)).toBe('serve')
    expect(closestWord('x', known)).toBeUndefined()
    expect(closestWord('nonsense', known)).toBeUndefined()
  })
})

describe('help', () => {
  it.each(paths.map((path) => [nameOf(path), path] as const))(
    '%j fits 80 columns, has examples that parse, and names every flag',
    (_name, path) => {
      const command = path.at(-1) ?? ROOT
      const text = helpText(path)
      const examples = command.examples.map(({ command: line }) => line)
      expect(examples.length).toBeGreaterThan(0)
      for (const line of text.split('\n'))
        if (!examples.includes(line.trim())) expect(width(line), line).toBeLessThanOrEqual(80)
      for (const flag of Object.keys(command.flags)) expect(text).toContain(`--${flag}`)
      for (const { name } of command.subcommands) expect(text).toContain(`  ${name}`)
      for (const line of examples) expect(() => parseExample(line), line).not.toThrow()
    },
  )

  it('is printed by help, --help and -h alike, with exit code 0', async () => {
    const texts = await Promise.all(
      ['help check ssl', 'check ssl --help', 'check ssl a.test --port 25 -h'].map((line) =>
        runInProcess(line.split(' '), {}),
      ),
    )
    expect(new Set(texts.map(({ out }) => out)).size).toBe(1)
    expect(texts[0]).toMatchObject({ code: 0, err: '', out: expect.stringContaining('--starttls') })
  })

  it('is printed to standard error with exit code 2 for no arguments', async () => {
    const { code, out, err } = await runPortreeve([], {})
    expect([code, out, err]).toEqual([2, '', expect.stringContaining('portreeve <command>')])
  })
})

/** Parses the part of an example that calls `portreeve`. */
function parseExample(line: string): void {
  const plain = line.replaceAll(/\$\([^)]*\)/g, 'x')
  // A symbolic link, made by another command.
  if (plain.startsWith('ln ')) return
  const [, call = ''] = /(?:^|[ |])portreeve ([^|>]*)/.exec(plain) ?? []
  const found = findCommand(ROOT, call.trim().split(/\s+/))
  if (found.command.run) parseInput(found)
}

describe('portreeve version', () => {
  it('prints the version, and the commit of the checkout', async () => {
    const git = spawnSync('git', ['rev-parse', '--short=12', 'HEAD'], { encoding: 'utf8' })
    const commit = git.status === 0 ? git.stdout.trim() : null
    const out = commit === null ? `${VERSION}\n` : `${VERSION} (commit ${commit})\n`
    for (const word of ['version', '--version', '-v'])
      expect(await runInProcess([word], {})).toEqual({ code: 0, out, err: '' })
    expect(JSON.parse((await runInProcess(['version', '--json'], {})).out)).toEqual({
      success: true,
      data: { version: VERSION, commit },
    })
  })
})
