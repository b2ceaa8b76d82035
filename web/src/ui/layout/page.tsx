import { memo, useDeferredValue, useEffect, useId, useRef, type ReactNode } from 'react'
import { hasInteracted } from '../../interaction.ts'
import { Skeleton } from '../feedback/skeleton.tsx'
import classes from './page.module.css'

type PageProps = {
  title: string
  lead?: ReactNode
  /** Above the heading: a back link or an illustration. */
  above?: ReactNode
  /** Buttons beside the heading: the screen's main action. */
  aside?: ReactNode
  /** For a single form. */
  narrow?: boolean
  /** Full width, for tables. */
  wide?: boolean
  /**
   * Details beside the content on a wide screen, and below it on others. Null while they load.
   */
  rail?: ReactNode
  /** Fills the window; its panes scroll separately. */
  fill?: boolean
  children?: ReactNode
}

/**
 * A screen: its heading, its title in the browser, and its content. The heading takes the focus on
 * arrival.
 *
 * Until the first key press or touch, new content is rendered in short steps, between which the
 * browser responds. From then on it is rendered at once, so that no field lags behind its text.
 */
export function Page(props: PageProps) {
  const deferred = useDeferredValue(props)
  return <PageContent {...(hasInteracted() ? props : deferred)} />
}

/** Renders only for new properties: those of the last rendering are the same objects. */
const PageContent = memo(function PageContent({
  title,
  lead,
  above,
  aside,
  narrow = false,
  wide = false,
  rail,
  fill = false,
  children,
}: PageProps) {
  const heading = useArrival()
  return (
    <div
      className={classes.page}
      data-narrow={narrow}
      data-wide={wide}
      data-fill={fill}
      data-rail={rail !== undefined}
    >
      <title>{`${title} · Portreeve`}</title>
      <header className={classes.header}>
        {above}
        <div className={classes.heading}>
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {aside}
        </div>
        {lead && <p className={classes.lead}>{lead}</p>}
      </header>
      {rail === undefined ? (
        children
      ) : (
        // New elements once the details are there: the old ones would be seen to move, when the
        // heading gets a second line.
        <Beside key={String(rail === null)} rail={rail}>
          {children}
        </Beside>
      )}
    </div>
  )
})

function Beside({ rail, children }: { rail: ReactNode; children: ReactNode }) {
  return (
    <div className={classes.beside}>
      <div className={classes.parts}>{children}</div>
      <div className={classes.rail} data-pending={rail === null}>
        {rail ?? <Skeleton lines={3} />}
      </div>
    </div>
  )
}

/** Whether any screen was shown before: a page just loaded announces itself. */
/** The last screen that was arrived at, and whether its heading took the focus. */
let arrival = { path: '', hadFocus: false }

/**
 * Tells screen readers that the page changed, which a router does without a sound. An outline that
 * makes way for its content keeps the focus where it is.
 */
function useArrival() {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    const path = window.location.pathname
    const focused = document.activeElement
    const takesFocus =
      path === arrival.path
        ? arrival.hadFocus && focused === document.body
        : arrival.path !== '' && !focused?.matches('input')
    if (takesFocus) heading.current?.focus({ preventScroll: true })
    arrival = { path, hadFocus: takesFocus || (path === arrival.path && arrival.hadFocus) }
  }, [])
  return heading
}

/** A part of a screen under its own heading. */
export function Section({
  id,
  title,
  aside,
  children,
}: {
  /** The anchor of links to it. */
  id?: string
  title: string
  aside?: ReactNode
  children: ReactNode
}) {
  const heading = useId()
  return (
    <section id={id} className={classes.section} aria-labelledby={heading}>
      <div className={classes.sectionHead}>
        <h2 id={heading}>{title}</h2>
        {aside}
      </div>
      {children}
    </section>
  )
}

/** A raised surface for content that belongs together. */
export function Card({ children }: { children: ReactNode }) {
  return <div className={classes.card}>{children}</div>
}

/** Stacks content vertically; `rows` marks items that j and k step through. */
export function Stack({ rows = false, children }: { rows?: boolean; children: ReactNode }) {
  return (
    <div className={classes.stack} data-rows={rows || undefined}>
      {children}
    </div>
  )
}

/** Sections one below the other, where the page itself does not hold them. */
export function SectionList({ children }: { children: ReactNode }) {
  return <div className={classes.parts}>{children}</div>
}

/** Sections in two columns where the screen is wide, for a page of settings. */
export function Columns({ children }: { children: ReactNode }) {
  return <div className={classes.columns}>{children}</div>
}

/** Controls side by side, wrapping where there is no room. */
export function Row({ children }: { children: ReactNode }) {
  return <div className={classes.row}>{children}</div>
}

/** Secondary text. */
export function Muted({ children }: { children: ReactNode }) {
  return <span className={classes.soft}>{children}</span>
}
