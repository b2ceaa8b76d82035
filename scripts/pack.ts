// Before and after `npm pack` (prepack, postpack). `npm pack` packs package.json as it is on the disk;
// the packed one has no dependencies, because dist/ contains them.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT, run } from './run.ts'

const MANIFEST = join(ROOT, 'package.json')
const ORIGINAL = `${MANIFEST}.orig`

if (process.argv[2] === 'after') restoreManifest()
else before()

function before(): void {
  // An earlier `npm pack` may have been interrupted.
  restoreManifest()
  run('node', ['scripts/build.ts'])
  writeFileSync(join(ROOT, 'dist/sbom.spdx.json'), listPackages())
  const text = readFileSync(MANIFEST, 'utf8')
  const { dependencies: _bundled, ...rest } = JSON.parse(text) as Record<string, unknown>
  writeFileSync(ORIGINAL, text)
  writeFileSync(MANIFEST, `${JSON.stringify(rest, null, 2)}\n`)
}

function restoreManifest(): void {
  if (existsSync(ORIGINAL)) renameSync(ORIGINAL, MANIFEST)
}

/**
 * The packages of the service, bundled or installed, as an SPDX document: PostgreSQL is listed for
 * each platform.
 */
function listPackages(): string {
  const args = ['sbom', '--package-lock-only', '--omit=dev', '--sbom-format=spdx']
  const { status, stdout, stderr } = spawnSync('npm', args, { cwd: ROOT, encoding: 'utf8' })
  if (status !== 0) throw new Error(`npm sbom failed: ${stderr}`)
  return stdout
}
