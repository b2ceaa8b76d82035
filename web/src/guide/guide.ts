// The script of the guide: its search, links to sections that moved, and buttons that copy an
// example. Pages work without it.
import { findMoved, findSections, type Section } from './find-sections.ts'
import { guide as messages } from './messages.ts'

/** The folder of the guide, relative to this page. */
const base = document.documentElement.dataset['guide'] ?? ''

let sections: Promise<Section[]> | undefined
const loadSections = () =>
  (sections ??= fetch(`${base}search.json`).then((answer) => answer.json() as Promise<Section[]>))

const field = document.querySelector<HTMLInputElement>('#search')
const list = document.querySelector<HTMLUListElement>('#found')
if (field && list) startSearch(field, list)
followTheme()
void followMoved(decodeURIComponent(location.hash.slice(1)))
for (const code of document.querySelectorAll('pre')) addCopyButton(code)

function startSearch(input: HTMLInputElement, results: HTMLUListElement): void {
  async function show(): Promise<void> {
    const typed = input.value
    const found = typed.trim() === '' ? [] : findSections(typed, await loadSections())
    if (typed !== input.value) return
    results.replaceChildren(...found.map(resultOf))
    if (typed.trim() !== '' && found.length === 0) results.append(nothing(typed))
    results.hidden = typed.trim() === ''
  }

  input.addEventListener('focus', () => void loadSections())
  input.addEventListener('input', () => void show())
  document.addEventListener('keydown', (event) => {
    const links = [...results.querySelectorAll('a')]
    const at = links.indexOf(document.activeElement as HTMLAnchorElement)
    if (event.key === '/' && document.activeElement !== input) input.focus()
    else if (event.key === 'Escape' && !results.hidden) {
      input.value = ''
      void show()
      input.focus()
    } else if (event.key === 'ArrowDown' && links.length > 0 && (at >= 0 || isIn(input)))
      links[Math.min(at + 1, links.length - 1)]?.focus()
    else if (event.key === 'ArrowUp' && at >= 0) (at === 0 ? input : links[at - 1])?.focus()
    else if (event.key === 'Enter' && isIn(input)) links[0]?.click()
    else return
    event.preventDefault()
  })
}

/** Opens the page that has the section of the address, where it is no longer on this page. */
async function followMoved(id: string): Promise<void> {
  if (id === '' || document.getElementById(id)) return
  const moved = findMoved(id, await loadSections())
  if (moved) location.replace(base + moved.url)
}

/** Follows the system while the dashboard has no theme of its own: see start.js. */
function followTheme(): void {
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', ({ matches }) => {
    const chosen = localStorage.getItem('portreeve-theme')
    if (chosen !== 'dark' && chosen !== 'light')
      document.documentElement.dataset['theme'] = matches ? 'dark' : 'light'
  })
}

const isIn = (input: HTMLInputElement) => document.activeElement === input

function resultOf({ url, page, heading }: Section): HTMLLIElement {
  const item = document.createElement('li')
  const link = document.createElement('a')
  link.href = base + url
  link.append(heading)
  if (heading !== page) {
    const place = document.createElement('small')
    place.append(page)
    link.append(place)
  }
  item.append(link)
  return item
}

function nothing(typed: string): HTMLLIElement {
  const item = document.createElement('li')
  item.append(messages.noResults(typed))
  return item
}

function addCopyButton(block: HTMLPreElement): void {
  const button = document.createElement('button')
  async function copy(): Promise<void> {
    await navigator.clipboard.writeText(block.querySelector('code')?.textContent ?? '')
    button.replaceChildren(messages.copied)
  }
  button.type = 'button'
  button.append(messages.copy)
  button.addEventListener('click', () => {
    void copy()
  })
  // Clipboards need a secure page.
  if ('clipboard' in navigator) block.append(button)
}
