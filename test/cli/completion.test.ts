import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { ROOT } from '../../src/cli/commands.ts'
import { bashCompletion } from '../../src/cli/completion/bash.ts'
import { fishCompletion } from '../../src/cli/completion/fish.ts'
import { zshCompletion } from '../../src/cli/completion/zsh.ts'
import { manPage } from '../../src/cli/help/man-page.ts'
import { VERSION } from '../../src/version.ts'
import { runInProcess, runPortreeve } from './command.ts'
import { openTerminal, type Terminal } from './terminal.ts'

let folder: string
let terminal: Terminal | undefined
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'portreeve-completion-'))
  writeFileSync(join(folder, 'portreeve.bash'), bashCompletion(ROOT))
  writeFileSync(join(folder, '_portreeve'), zshCompletion(ROOT))
  writeFileSync(join(folder, 'portreeve.fish'), fishCompletion(ROOT))
  mkdirSync(join(folder, 'work'))
  writeFileSync(join(folder, 'work', 'my old.backup'), '')
})
afterEach(() => {
  terminal?.close()
  terminal = undefined
})
afterAll(() => rmSync(folder, { recursive: true }))

/** Each shell interactively, with a prompt of one sign and the completion loaded. */
const SHELLS = {
  bash: 'bash --norc --noprofile -i',
  zsh: 'zsh -f -i',
  fish: 'fish --no-config -i',
}
const SETUP = {
  bash: () => `PS1='> '; source ${folder}/portreeve.bash; cd ${folder}/work; clear`,
  zsh: () =>
    `PS1='> '; fpath=(${folder} $fpath); autoload -Uz compinit; compinit -u -d ${folder}/dump; cd ${folder}/work; clear`,
  fish: () =>
    `function fish_prompt; echo -n '> '; end; function fish_greeting; end; source ${folder}/portreeve.fish; cd ${folder}/work; clear`,
}

describe.each(['bash', 'zsh', 'fish'] as const)('completion in a real %s', (shell) => {
  /** Types a line and presses Tab; returns the line when it has changed as expected. */
  async function complete(typed: string, expected: RegExp): Promise<void> {
    terminal ??= await start()
    terminal.press('C-u')
    terminal.type(typed)
    terminal.press('Tab')
    await terminal.until(expected)
  }

  async function start(): Promise<Terminal> {
    const opened = openTerminal(SHELLS[shell])
    await opened.until(/[>$#%] *$/m)
    opened.type(SETUP[shell]())
    opened.press('Enter')
    await opened.until(/^> *$/)
    return opened
  }

  it('completes commands, flags, values and files', { timeout: 120_000 }, async () => {
    await complete('portreeve ser', /^> portreeve serve(?: |$)/m)
    await complete('portreeve check bl', /^> portreeve check blocklist(?: |$)/m)
    await complete('portreeve check ssl --star', /^> portreeve check ssl --starttls/m)
    await complete('portreeve check ssl --starttls ld', /--starttls ldap/m)
    await complete('portreeve check ssl --starttls=pos', /--starttls=postgres/m)
    await complete('portreeve user set-plan a@example.com ente', /example\.com enterprise/m)
    await complete('portreeve completion z', /^> portreeve completion zsh/m)
    await complete(
      'portreeve restore my',
      /^> portreeve restore (?:my\\ old\.backup|'my old\.backup')/m,
    )
  })

  it('offers every command', { timeout: 120_000 }, async () => {
    terminal = await start()
    terminal.type('portreeve ')
    terminal.press('Tab', 'Tab')
    for (const { name } of ROOT.subcommands) await terminal.until(new RegExp(`\\b${name}\\b`))
  })
})

describe('portreeve completion', () => {
  it('prints the scripts', async () => {
    for (const [shell, script] of [
      ['bash', bashCompletion(ROOT)],
      ['zsh', zshCompletion(ROOT)],
      ['fish', fishCompletion(ROOT)],
    ] as const)
      expect(await runInProcess(['completion', shell], {})).toEqual({
        code: 0,
        out: `${script}\n`,
        err: '',
      })
  })
})

describe('portreeve.1', () => {
  it('is what the table of commands says (npm run man writes it)', () => {
    expect(readFileSync('man/portreeve.1', 'utf8')).toBe(manPage(ROOT, VERSION))
  })

  it('is shown by man with every command, and has no errors', async () => {
    const page = join(folder, 'portreeve.1')
    writeFileSync(page, (await runPortreeve(['help', '--man'], {})).out)
    const env = { ...process.env, MANWIDTH: '100', LANG: 'C.UTF-8' }
    const printed = execFileSync('man', ['-l', page], { env, encoding: 'utf8' })
    // Bold letters are printed twice, with a backspace between them.
    const text = printed
      .split('\b')
      .map((part, i, { length }) => (i < length - 1 ? part.slice(0, -1) : part))
      .join('')
    for (const heading of [
      'portreeve check blocklist IPV4',
      'portreeve user create',
      'EXIT STATUS',
    ])
      expect(text).toContain(heading)
    expect(text).toContain('portreeve check ssl mail.example.com --port 587 --starttls smtp')
    expect(text).toMatch(/^ +LOG_FORMAT$/m)
    const groff = execFileSync('/bin/sh', ['-c', `man --warnings -l '${page}' 2>&1 >/dev/null`], {
      env,
      encoding: 'utf8',
    })
    expect(groff).toBe('')
  })
})
