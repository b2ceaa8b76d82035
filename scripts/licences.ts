// `npm run licences`: what the packages in node_modules are licensed under, and a failure when one
// is not on the list. No network.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './run.ts'

/**
 * Permissive licenses. They require that their text is kept, which installing the whole npm package
 * does.
 */
const ALLOWED = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'CC-BY-4.0',
  'ISC',
  'MIT',
  'MIT-0',
  'MPL-2.0',
  'PostgreSQL',
  'PSF-2.0',
  'Python-2.0',
  'Unlicense',
  'Zlib',
])

/** Packages whose README contains the license that their manifest does not name. */
const IN_README: Record<string, string> = {
  'humanize-number@0.0.2': 'MIT',
  'only@0.0.2': 'MIT',
}

export type Installed = { name: string; version: string; licence: string; dev: boolean }

type Locked = { version: string; dev?: boolean; devOptional?: boolean }
type Manifest = { license?: string | { type: string }; licenses?: { type: string }[] }

/** Every package of the lockfile that is installed here; those for other platforms are not. */
export function installedPackages(): Installed[] {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, Locked>
  }
  const installed = Object.entries(packages).filter(
    ([path]) => path !== '' && existsSync(join(ROOT, path, 'package.json')),
  )
  return installed.map(([path, { version, dev, devOptional }]) => {
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
    const manifest = JSON.parse(readFileSync(join(ROOT, path, 'package.json'), 'utf8')) as Manifest
    const licence = IN_README[`${name}@${version}`] ?? licenceOf(manifest)
    return { name, version, licence, dev: Boolean(dev ?? devOptional) }
  })
}

function licenceOf({ license, licenses }: Manifest): string {
  if (typeof license === 'string') return license
  return license?.type ?? (licenses?.map(({ type }) => type).join(' OR ') || 'none named')
}

/**
 * Whether a license is accepted (SPDX expressions: one of those joined by OR, all of those joined
 * by AND).
 */
export function isAllowed(expression: string): boolean {
  const bare = expression.replaceAll(/[()]/g, '')
  return bare
    .split(' OR ')
    .some((choice) => choice.split(' AND ').every((licence) => ALLOWED.has(licence.trim())))
}

function main(): void {
  const packages = installedPackages()
  const counts = new Map<string, number>()
  for (const { licence } of packages) counts.set(licence, (counts.get(licence) ?? 0) + 1)
  const refused = packages.filter(({ licence }) => !isAllowed(licence))
  for (const { name, version, licence } of refused)
    console.error(`${name} ${version}: ${licence} is not allowed (scripts/licences.ts)`)
  const summary = [...counts]
    .toSorted(([, a], [, b]) => b - a)
    .map(([licence, count]) => `${count} ${licence}`)
  console.log(`${packages.length} packages: ${summary.join(', ')}`)
  if (refused.length > 0) process.exit(1)
}

if (import.meta.main) main()
