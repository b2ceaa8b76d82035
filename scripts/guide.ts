// `npm run guide -- FOLDER`: writes the guide as a website. The build of the dashboard writes it into
// web/dist/guide, from where the service serves it at /docs/guide.
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, posix, resolve } from 'node:path'
import GithubSlugger from 'github-slugger'
import { Marked, type Token, type Tokens } from 'marked'
import { build } from 'vite'
import type { Section } from '../web/src/guide/find-sections.ts'
import { guide as messages } from '../web/src/guide/messages.ts'
import { compressFiles } from '../web/build/compress.ts'
import { ROOT } from './run.ts'

/** A page of the guide. */
export type GuidePage = {
  /** From the root of the repository: `docs/dmarc.md`. */
  source: string
  /** From the folder of the guide: `dmarc.html`. */
  url: string
  title: string
  html: string
  headings: { id: string; text: string; depth: number }[]
  sections: Section[]
}

const INDEX = 'docs/index.md'

/** The pages of docs/, and what they link to in the rest of the repository. */
export function renderGuide(): GuidePage[] {
  const docs = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => posix.join('docs', name))
    .toSorted()
  const sources = new Set([INDEX, ...docs])
  for (const source of docs) for (const target of linkedFiles(source)) sources.add(target)
  // A folder has a page with links to its files.
  for (const source of new Set(sources))
    if (isFolder(source))
      for (const file of readdirSync(join(ROOT, source))) sources.add(posix.join(source, file))
  return [...sources]
    .filter((source) => !isImage(source))
    .map((source) => renderPage(source, sources))
}

const isFolder = (source: string) => statSync(join(ROOT, source)).isDirectory()
const isImage = (source: string) => /\.(png|svg)$/.test(source)
const isMarkdown = (source: string) => source.endsWith('.md')

/** Where a file of the repository is in the guide. */
export function guideUrl(source: string): string {
  if (source === INDEX) return 'index.html'
  const inGuide = source.replace(/^docs\//, '')
  if (isImage(source)) return inGuide
  if (isMarkdown(source)) return inGuide.replace(/\.md$/, '.html')
  return isFolder(source) ? `${inGuide}/index.html` : `${inGuide}.html`
}

function linkedFiles(source: string): string[] {
  const found: string[] = []
  const collect = (token: Token) => {
    if (token.type !== 'link' && token.type !== 'image') return
    const target = targetOf(source, (token as Tokens.Link).href)
    if (target) found.push(target.file)
  }
  const markdown = readFileSync(join(ROOT, source), 'utf8')
  new Marked({ walkTokens: collect }).parse(markdown, { async: false })
  return found
}

/** The file of the repository that a link leads to; null for links to other sites. */
function targetOf(source: string, href: string): { file: string; anchor: string } | null {
  if (/^[a-z]+:/.test(href)) return null
  const [path = '', anchor = ''] = href.split('#', 2)
  const file = path === '' ? source : posix.join(posix.dirname(source), path).replace(/\/$/, '')
  return { file, anchor: anchor === '' ? '' : `#${anchor}` }
}

function renderPage(source: string, sources: ReadonlySet<string>): GuidePage {
  const url = guideUrl(source)
  const markdown = markdownOf(source)
  const slugger = new GithubSlugger()
  const headings: GuidePage['headings'] = []
  const linkTo = (href: string) => {
    const target = targetOf(source, href)
    if (!target) return href
    if (!sources.has(target.file)) return null
    if (target.file === source) return target.anchor
    return posix.relative(posix.dirname(url), guideUrl(target.file)) + target.anchor
  }
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth }) {
        const text = plainText(tokens)
        const id = slugger.slug(text)
        headings.push({ id, text, depth })
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}</h${depth}>\n`
      },
      link({ href, tokens }) {
        const to = linkTo(href)
        const text = this.parser.parseInline(tokens)
        return to === null ? text : `<a href="${escapeHtml(to)}">${text}</a>`
      },
      image({ href, text }) {
        return `<img src="${escapeHtml(linkTo(href) ?? '')}" alt="${escapeHtml(text)}" loading="lazy">`
      },
      table(token) {
        const cells = (row: Tokens.TableCell[], tag: string) =>
          row
            .map(({ tokens, align }) => {
              const side = align ? ` align="${align}"` : ''
              return `<${tag}${side}>${this.parser.parseInline(tokens)}</${tag}>`
            })
            .join('')
        const rows = token.rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('\n')
        return `<div class="table" tabindex="0"><table><thead><tr>${cells(token.header, 'th')}</tr></thead><tbody>${rows}</tbody></table></div>\n`
      },
      html({ text }) {
        if (!/^<!--[^]*-->\s*$/.test(text)) throw new Error(`${source} has HTML: ${text}`)
        return ''
      },
    },
  })
  const html = marked.parse(markdown, { async: false })
  const title = headings[0]?.text ?? source
  return { source, url, title, html, headings, sections: sectionsOf(markdown, { url, title }) }
}

/** A page of the repository; for other files one that shows them, for folders their list. */
function markdownOf(source: string): string {
  if (isFolder(source)) {
    const files = readdirSync(join(ROOT, source))
    const name = source.split('/').at(-1)
    return `# ${source}\n\n${files.map((file) => `- [${file}](${name}/${file})`).join('\n')}\n`
  }
  const text = readFileSync(join(ROOT, source), 'utf8')
  return isMarkdown(source) ? text : `# ${source}\n\n\`\`\`\`text\n${text}\n\`\`\`\`\n`
}

function plainText(tokens: Token[]): string {
  return tokens
    .map((token) =>
      'tokens' in token && token.tokens
        ? plainText(token.tokens)
        : 'text' in token
          ? token.text
          : '',
    )
    .join('')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
}

/** Words that a section needs to be found; a long table is found by its heading. */
const MAX_WORDS = 400

function sectionsOf(markdown: string, { url, title }: { url: string; title: string }): Section[] {
  const slugger = new GithubSlugger()
  const sections: { heading: string; id: string; text: string[] }[] = []
  for (const token of new Marked().lexer(markdown)) {
    if (token.type === 'heading') {
      const heading = plainText((token as Tokens.Heading).tokens)
      sections.push({ heading, id: slugger.slug(heading), text: [] })
    } else if (token.type !== 'html') sections.at(-1)?.text.push(token.raw)
  }
  const isReference = markdown.startsWith('<!-- generated by ')
  return sections.map(({ heading, id, text }, index) => {
    const all = text
      .join(' ')
      .replace(/\]\([^)]*\)/g, ' ')
      .toLowerCase()
      .match(/[\p{L}\p{N}_]{2,}/gu)
    return {
      url: index === 0 ? url : `${url}#${id}`,
      page: title,
      heading,
      words: [...new Set(all)].slice(0, MAX_WORDS).join(' '),
      ...(isReference && { isReference }),
    }
  })
}

const escapeHtml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')

/** The groups of pages beside each page: the sections of docs/index.md, with their links. */
function navigationOf(index: GuidePage, current: GuidePage, byUrl: ReadonlyMap<string, GuidePage>) {
  const groups = [...index.html.matchAll(/<h2 id="[^"]*">(.*?)<\/h2>(.*?)(?=<h2|$)/gs)]
  return groups
    .map(([, title = '', content = '']) => {
      const links = [...content.matchAll(/<a href="([^"#:]+)">(.*?)<\/a>/gs)]
        .filter(([, url = '']) => byUrl.has(url))
        .map(([, url = '', text = '']) => {
          const to = posix.relative(posix.dirname(current.url), url)
          const mark = url === current.url ? ' aria-current="page"' : ''
          return `<a href="${to}"${mark}>${text}</a>`
        })
      return `<h2>${title}</h2>\n${links.join('\n')}`
    })
    .join('\n')
}

type Frame = { pages: readonly GuidePage[]; isService: boolean }

function documentOf(page: GuidePage, { pages, isService }: Frame): string {
  const base = '../'.repeat(page.url.split('/').length - 1)
  const byUrl = new Map(pages.map((each) => [each.url, each]))
  const index = byUrl.get('index.html') as GuidePage
  const contents = page.headings
    .slice(1)
    .filter(({ depth }) => depth <= 3)
    .map(({ id, text, depth }) => {
      const deep = depth === 3 ? ' class="deep"' : ''
      return `<a href="#${id}"${deep}>${escapeHtml(text)}</a>`
    })
  const elsewhere = isService
    ? `<a href="${base}../../home">${messages.dashboard}</a><a href="${base}../../docs">${messages.api}</a>`
    : ''
  return `<!doctype html>
<html lang="en" data-guide="${base}">
<head>
<meta charset="utf-8">
<title>${escapeHtml(page.title)} · ${messages.title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="${base}favicon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${base}guide.css">
<script src="${base}start.js"></script>
</head>
<body>
<a class="skip" href="#page">${messages.skip}</a>
<header>
<a class="brand" href="${base}index.html"><img src="${base}favicon.svg" width="24" height="24" alt="">${messages.title}</a>
<div class="search"><input id="search" type="search" placeholder="${messages.search}" aria-label="${messages.search}" autocomplete="off"><ul id="found" hidden></ul></div>
<div class="elsewhere"><a class="jump" href="#pages">${messages.pages}</a>${elsewhere}</div>
</header>
<div class="columns">
<nav class="pages" id="pages" aria-label="${messages.pages}">
${navigationOf(index, page, byUrl)}
</nav>
<main id="page" tabindex="-1">
${page.html}
</main>
<nav class="contents" aria-label="${messages.onThisPage}">${contents.length > 1 ? `<h2>${messages.onThisPage}</h2>${contents.join('\n')}` : ''}</nav>
</div>
<script type="module" src="${base}guide.js"></script>
</body>
</html>
`
}

/**
 * Writes the guide into a folder, which is emptied first.
 * @param isService whether it is beside a dashboard, to which it then has links
 */
export async function writeGuide(folder: string, isService: boolean): Promise<void> {
  const pages = renderGuide()
  rmSync(folder, { recursive: true, force: true })
  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  await build({
    configFile: false,
    root: join(ROOT, 'web'),
    logLevel: 'warn',
    publicDir: false,
    build: {
      outDir: folder,
      emptyOutDir: false,
      target: ['chrome123', 'firefox120', 'safari17.5'],
      modulePreload: { polyfill: false },
      rolldownOptions: {
        input: ['guide.ts', 'guide.css'].map((name) => join(ROOT, 'web/src/guide', name)),
        output: { entryFileNames: 'guide.js', assetFileNames: 'guide.[ext]' },
      },
    },
  })
  for (const name of ['start.js', 'favicon.svg'])
    cpSync(join(ROOT, 'web/public', name), join(folder, name))
  for (const page of pages) write(page.url, documentOf(page, { pages, isService }))
  // Of the rest of the repository only what pages of docs/ link to, which is found from them.
  write(
    'search.json',
    JSON.stringify(
      pages.filter(({ source }) => source.startsWith('docs/')).flatMap(({ sections }) => sections),
    ),
  )
  compressFiles(folder)
}

if (import.meta.main) {
  const [folder] = process.argv.slice(2)
  if (folder === undefined) {
    console.error('Usage: npm run guide -- FOLDER')
    process.exit(1)
  }
  await writeGuide(resolve(folder), false)
}
