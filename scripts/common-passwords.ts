// `node scripts/common-passwords.ts`: writes data/common-passwords.txt from a package of npm, which
// is fetched for it alone.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT, run } from './run.ts'

const PACKAGE = '@zxcvbn-ts/language-common@4.1.3'

/**
 * The commonest of all, and of the others those that are long enough to be taken without this list.
 */
const COMMONEST = 10_000
const SHORTEST_TAKEN = 10

const folder = mkdtempSync(join(tmpdir(), 'common-passwords-'))
try {
  run('npm', ['pack', '--silent', '--pack-destination', folder, PACKAGE])
  run('tar', ['-xzf', join(folder, 'zxcvbn-ts-language-common-4.1.3.tgz'), '-C', folder])
  const text = (path: string) => readFileSync(join(folder, 'package', path), 'utf8')
  const passwords = JSON.parse(text('src/passwords.json')) as string[]
  const kept = passwords.filter(
    (password, rank) => rank < COMMONEST || password.length >= SHORTEST_TAKEN,
  )
  const head = [
    `The ${COMMONEST} commonest passwords, then commoner ones of ${SHORTEST_TAKEN} and more characters; lower case.`,
    `Made by scripts/common-passwords.ts from ${PACKAGE}, whose licence follows.`,
    ...text('LICENSE.txt').trim().split('\n'),
  ]
  const lines = [...head.map((line) => `# ${line}`.trim()), ...kept, '']
  writeFileSync(join(ROOT, 'data/common-passwords.txt'), lines.join('\n'))
  console.log(`${kept.length} passwords`)
} finally {
  rmSync(folder, { recursive: true })
}
