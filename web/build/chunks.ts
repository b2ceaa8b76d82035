import { join } from 'node:path'

/** What draws; the small strip and the bar of cards and tables need none of it. */
const CHARTS = /[\\/]ui[\\/]charts[\\/](?!small-day-strip|percentage-bar)/

/**
 * How the modules are put into files. A phone on a slow network waits longer for thirty small files
 * than for three larger ones:
 *
 * - `shared` has React and what the dashboard and the API reference both use.
 * - `dashboard` has the rest of what every screen of the dashboard needs.
 * - `styles` has the style sheets of all screens: together they are smaller than one chart library.
 * - `ui` has what most screens share, and `charts` what draws.
 * - `api` has the requests of all folders: the overview needs many of them, but not their screens.
 * - The other folders of `src/` have one file each, with what several screens need, and a second one
 *   for what uses charts: a screen without charts does not load them. Dialogs, which no screen shows
 *   at first, have files of their own.
 */
export const CHUNKS = [
  { debugName: 'shared', name: sharedChunk },
  { debugName: 'dashboard', name: dashboardChunk, tags: ['$initial' as const] },
  { name: 'styles', test: isStyleSheet },
  // Before the charts, which would take along what they need of it.
  { name: 'ui', test: isCommon, minShareCount: 2 },
  { name: 'charts', test: isChart },
  { name: 'api', test: /[\\/]web[\\/]src[\\/].+[\\/]api\.ts$/, minShareCount: 2 },
  { debugName: 'folders', name: folderChunk, minShareCount: 2 },
]

const DIALOG = /-dialog\.tsx$/

type ModuleGraph = {
  getModuleInfo: (id: string) => { importedIds: readonly string[] } | null
}

const REFERENCE = join(import.meta.dirname, '../src/api-reference')

/** The modules of the API reference, found once. */
let referenceModules: Set<string> | null = null

function sharedChunk(id: string, graph: ModuleGraph): string | null {
  if (isOwn(id)) return null
  referenceModules ??= reachable(graph, join(REFERENCE, 'main.tsx'))
  return referenceModules.has(id) ? 'shared' : null
}

function dashboardChunk(id: string): string | null {
  return isOwn(id) ? null : 'dashboard'
}

const COMMON =
  /[\\/](?:web[\\/]src[\\/](?:ui|labels|workspaces|addresses)|node_modules[\\/]@tanstack)[\\/]/

/** The field for checks, which is on the overview, too. */
const CHECK_FIELD = /[\\/]check[\\/](?:check-field|guess-target|open-target|recent-checks)\.tsx?$/

function isCommon(id: string): boolean {
  return (COMMON.test(id) || CHECK_FIELD.test(id)) && !CHARTS.test(id)
}

function isChart(id: string): boolean {
  return CHARTS.test(id) || id.includes('/node_modules/d3-array/')
}

function isStyleSheet(id: string): boolean {
  return id.endsWith('.css') && !isOwn(id)
}

/** Whether the module stays in the file of the API reference, or of a page. */
function isOwn(id: string): boolean {
  return id.startsWith(REFERENCE) || id.endsWith('.html')
}

function reachable(graph: ModuleGraph, from: string): Set<string> {
  const found = new Set([from])
  for (const id of found)
    graph.getModuleInfo(id)?.importedIds.forEach((imported) => found.add(imported))
  return found
}

function reaches(graph: ModuleGraph, from: string, pattern: RegExp): boolean {
  return [...reachable(graph, from)].some((id) => pattern.test(id))
}

/** Incidents and silence are on most screens, unlike the rest of the alerts. */
const PART = /\/web\/src\/((?:alerts\/(?!incidents|silence)|migrations\/)\w+(?=\/)|[^/]+)\//

function folderChunk(id: string, graph: ModuleGraph): string | null {
  const [, folder = null] = PART.exec(id) ?? []
  if (folder === null || folder === 'pages' || DIALOG.test(id)) return null
  const name = folder.replace('/', '-')
  return reaches(graph, id, CHARTS) ? `${name}-charts` : name
}
