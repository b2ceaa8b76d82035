import { existsSync, readFileSync } from 'node:fs'

/** The files of a screen beside those of every page. A segment of the path that begins with `$` fits any. */
type Screen = { path: string; files: string[] }

/**
 * Reads the screens of a built dashboard.
 * @param file the build’s `screens.json`; without it there are none
 * @param basePath the path of BASE_URL; empty at the root
 * @returns gives the `Link` header for the page at a path: the files of its screen, which a browser
 *   then loads together with the first script; undefined for unknown paths
 */
export function readScreenLinks(file: string, basePath = ''): (path: string) => string | undefined {
  const screens = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Screen[]) : []
  const known = screens.map(({ path, files }) => ({
    segments: path.split('/'),
    header: files.map((name) => linkTo(`${basePath}/${name}`)).join(', '),
  }))
  return (path) => {
    const segments = path.split('/')
    return known.find((screen) => fits(screen.segments, segments))?.header
  }
}

function fits(pattern: string[], segments: string[]): boolean {
  return (
    pattern.length === segments.length &&
    pattern.every((part, at) => part === segments[at] || part.startsWith('$'))
  )
}

function linkTo(file: string): string {
  const kind = file.endsWith('.css') ? 'rel=preload; as=style' : 'rel=modulepreload'
  return `<${file}>; ${kind}; crossorigin`
}
