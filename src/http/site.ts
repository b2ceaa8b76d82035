import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fastifyStatic } from '@fastify/static'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ROOT } from '../version.ts'
import { readScreenLinks } from './screen-files.ts'

/**
 * Nothing inline, and nothing from other origins. The dashboard needs no `style-src` exception:
 * React sets style properties through the CSSOM, which the policy allows. No script may turn text
 * into HTML either (`trusted-types 'none'`).
 */
const PAGE_CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "font-src 'self'",
  "connect-src 'self'",
  // The preview of a digest, which is sandboxed.
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

const PAGE_HEADERS = {
  'content-security-policy': PAGE_CONTENT_SECURITY_POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  // The address of a page may name a customer's domain.
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

/**
 * Of scripts and style sheets, where those of pages have no effect: 0.7 kB for each of the twenty
 * files of a screen.
 */
const ASSET_HEADERS = {
  'cross-origin-resource-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
}

/** Unknown paths below these are never pages of the dashboard, whatever the client accepts. */
const NON_PAGE_PREFIXES = ['/api/', '/assets/', '/docs/', '/webhooks/', '/.well-known/']

const DEFAULT_ROOT = join(ROOT, 'web/dist')

/** The API reference. Its operations are fragments, so that both addresses have the same links. */
const REFERENCE_URLS = ['/docs', '/docs/']

/** The guide: a folder of pages with relative links. */
const GUIDE_URL = '/docs/guide'

/** Written by the build for the service, not for browsers. */
const SCREENS = 'screens.json'

const NOT_BUILT_TEXT =
  'Portreeve is running, but the dashboard is not built. Run npm run build:web, then restart.\n'

/**
 * Serves the built dashboard: its files, the API reference at `/docs`, the guide at `/docs/guide`,
 * and its page for every other path that a browser navigates to, because the page knows which paths
 * exist. Other unknown paths get the JSON error. Call it after all other routes.
 * @param root folder of the build, `web/dist` by default; without a build, `/` explains how to
 *   create it
 * @param basePath the path of BASE_URL, below which browsers find the files; empty at the root
 * @param isDemo marks the pages as those of a demo
 */
export function siteRoutes(
  app: FastifyInstance,
  { root = DEFAULT_ROOT, basePath = '', isDemo = false } = {},
): void {
  if (!existsSync(join(root, 'index.html'))) {
    for (const url of ['/', ...REFERENCE_URLS, GUIDE_URL]) {
      app.get(url, { schema: { hide: true } }, async (_request, reply) =>
        reply.type('text/plain').send(NOT_BUILT_TEXT),
      )
    }
    return
  }
  void app.register(fastifyStatic, {
    root: join(root, 'assets'),
    prefix: '/assets/',
    schemaHide: true,
    preCompressed: true,
    index: false,
    // Names carry a hash of the content, so what a name means never changes: nobody asks again.
    immutable: true,
    maxAge: '1y',
    etag: false,
    lastModified: false,
    acceptRanges: false,
    setHeaders: (reply) => void reply.headers(ASSET_HEADERS),
  })
  guideRoutes(app, join(root, 'guide'))
  for (const name of looseFiles(root)) {
    app.get(`/${name}`, { schema: { hide: true } }, (_request, reply) =>
      sendFile(reply, root, name, name.endsWith('.js') ? ASSET_HEADERS : PAGE_HEADERS),
    )
  }
  const sendPage = createPages(root, basePath, isDemo)
  for (const url of REFERENCE_URLS) {
    app.get(url, { schema: { hide: true } }, (_request, reply) => sendPage(reply, 'docs.html'))
  }
  const linksFor = readScreenLinks(join(root, SCREENS), basePath)
  const sendDashboard = (request: FastifyRequest, reply: FastifyReply) => {
    const links = linksFor(request.url.split('?', 1)[0] ?? '')
    if (links) reply.header('link', links)
    return sendPage(reply, 'index.html')
  }
  app.get('/', { schema: { hide: true } }, sendDashboard)
  app.addHook('onRequest', (request, reply, done) => {
    if (request.is404 && isNavigation(request)) sendDashboard(request, reply)
    else done()
  })
}

function guideRoutes(app: FastifyInstance, root: string): void {
  if (!existsSync(root)) return
  // Relative to this address, which may be below a path of a proxy.
  app.get(GUIDE_URL, { schema: { hide: true } }, async (_request, reply) =>
    reply.redirect('guide/'),
  )
  void app.register(fastifyStatic, {
    root,
    prefix: `${GUIDE_URL}/`,
    schemaHide: true,
    preCompressed: true,
    decorateReply: false,
    setHeaders: (reply) => void reply.headers({ ...PAGE_HEADERS, 'cache-control': 'no-cache' }),
    cacheControl: false,
  })
}

/** Files beside the pages, such as icon and robots.txt, without the pages and compressed copies. */
function looseFiles(root: string): string[] {
  const files = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isFile())
  return files
    .map(({ name }) => name)
    .filter((name) => name !== SCREENS && !/\.(html|br|gz)$/.test(name))
}

/**
 * Sends the built pages. Only they name files by absolute paths: scripts find theirs, the API and
 * their screens relative to where they were loaded from.
 */
function createPages(root: string, basePath: string, isDemo: boolean) {
  if (basePath === '' && !isDemo)
    return (reply: FastifyReply, name: string) => sendFile(reply, root, name)
  const pages = new Map(
    ['index.html', 'docs.html'].map((name) => {
      const page = readFileSync(join(root, name), 'utf8')
      const marked = isDemo ? page.replace('<html', '<html data-demo') : page
      return [name, marked.replaceAll(/\b(src|href)="\//g, `$1="${basePath}/`)]
    }),
  )
  return (reply: FastifyReply, name: string) =>
    reply
      .headers({ ...PAGE_HEADERS, 'cache-control': 'no-cache' })
      .type('text/html; charset=utf-8')
      .send(pages.get(name))
}

function sendFile(
  reply: FastifyReply,
  root: string,
  name: string,
  headers: typeof PAGE_HEADERS | typeof ASSET_HEADERS = PAGE_HEADERS,
): FastifyReply {
  reply.headers({ ...headers, 'cache-control': 'no-cache' })
  return reply.sendFile(name, root, { cacheControl: false })
}

function isNavigation({ method, url, headers }: FastifyRequest): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false
  return (
    (headers.accept ?? '').includes('text/html') &&
    !NON_PAGE_PREFIXES.some((prefix) => url.startsWith(prefix))
  )
}
