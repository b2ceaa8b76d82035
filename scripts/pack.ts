// Before and after `npm pack` (prepack, postpack). `npm pack` packs package.json as it is on the disk;
// the packed one has no dependencies, because dist/ contains them.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { COMMIT_FILE, findCommit } from '../src/version.ts'
import { ROOT, run } from './run.ts'

const MANIFEST = join(ROOT, 'package.json')
const ORIGINAL = `${MANIFEST}.orig`

type Manifest = {
  name: string
  version: string
  dependencies?: object
  optionalDependencies: object
}
type Package = { name: string; version: string }
type Sbom = {
  packages: { SPDXID: string; name: string; versionInfo: string }[]
  relationships: { spdxElementId: string; relatedSpdxElement: string }[]
}

if (process.argv[2] === 'after') restoreManifest()
else before()

function before(): void {
  // An earlier `npm pack` may have been interrupted.
  restoreManifest()
  run('node', ['scripts/build.ts'])
  writeFileSync(COMMIT_FILE, `${process.env['COMMIT'] || (findCommit() ?? '')}\n`)
  const text = readFileSync(MANIFEST, 'utf8')
  const { dependencies: _bundled, ...manifest } = JSON.parse(text) as Manifest
  writeFileSync(join(ROOT, 'dist/sbom.spdx.json'), JSON.stringify(listPackages(manifest)))
  writeFileSync(ORIGINAL, text)
  writeFileSync(MANIFEST, `${JSON.stringify(manifest, null, 2)}\n`)
}

function restoreManifest(): void {
  if (existsSync(ORIGINAL)) renameSync(ORIGINAL, MANIFEST)
}

/** The packages that are bundled, and PostgreSQL’s for each platform, as an SPDX document. */
function listPackages({ name, version, optionalDependencies }: Manifest): Sbom {
  const bundled = JSON.parse(readFileSync(join(ROOT, 'dist/licenses.json'), 'utf8')) as Package[]
  const versions = new Set(
    [
      { name, version },
      ...bundled,
      ...Object.entries(optionalDependencies).map(([key, value]) => ({
        name: key,
        version: value,
      })),
    ].map((each) => `${each.name} ${each.version}`),
  )
  // All of the lockfile: with --omit=dev, npm leaves out what a build dependency needs too.
  const args = ['sbom', '--package-lock-only', '--sbom-format=spdx']
  const locked = JSON.parse(execFileSync('npm', args, { cwd: ROOT, encoding: 'utf8' })) as Sbom
  const packages = locked.packages.filter((each) =>
    versions.has(`${each.name} ${each.versionInfo}`),
  )
  const ids = new Set(['SPDXRef-DOCUMENT', ...packages.map(({ SPDXID }) => SPDXID)])
  const relationships = locked.relationships.filter(
    (each) => ids.has(each.spdxElementId) && ids.has(each.relatedSpdxElement),
  )
  return { ...locked, packages, relationships }
}
