import { useId, useRef, type KeyboardEvent, type ReactNode } from 'react'
import classes from './tabs.module.css'

type TabsProps<T extends string> = {
  label: string
  tabs: { value: T; name: string; count?: number }[]
  value: T
  onChange: (value: T) => void
  children: ReactNode
}

const STEPS: Record<string, (at: number, count: number) => number> = {
  ArrowRight: (at, count) => (at + 1) % count,
  ArrowLeft: (at, count) => (at - 1 + count) % count,
  Home: () => 0,
  End: (_at, count) => count - 1,
}

/**
 * Views of one thing, of which one is shown: arrow keys go from tab to tab, the Tab key into the
 * view.
 */
export function Tabs<T extends string>({ label, tabs, value, onChange, children }: TabsProps<T>) {
  const id = useId()
  const list = useRef<HTMLDivElement>(null)

  function step(event: KeyboardEvent): void {
    const next = STEPS[event.key]?.(
      tabs.findIndex((tab) => tab.value === value),
      tabs.length,
    )
    const tab = next === undefined ? undefined : tabs[next]
    if (!tab) return
    event.preventDefault()
    onChange(tab.value)
    list.current?.querySelectorAll<HTMLElement>('[role=tab]')[next as number]?.focus()
  }

  return (
    <div className={classes.tabs}>
      <div ref={list} className={classes.list} role="tablist" aria-label={label} onKeyDown={step}>
        {tabs.map((tab) => (
          <button
            key={tab.value}
            type="button"
            role="tab"
            id={`${id}-${tab.value}`}
            className={classes.tab}
            aria-selected={tab.value === value}
            aria-controls={`${id}-view`}
            tabIndex={tab.value === value ? 0 : -1}
            onClick={() => onChange(tab.value)}
          >
            {tab.name}
            {tab.count !== undefined && <span className={classes.count}>{tab.count}</span>}
          </button>
        ))}
      </div>
      <div
        id={`${id}-view`}
        className={classes.view}
        role="tabpanel"
        aria-labelledby={`${id}-${value}`}
      >
        {children}
      </div>
    </div>
  )
}

/** Adds a frame to content of a tab that has none. */
export function TabContent({ children }: { children: ReactNode }) {
  return <div className={classes.sheet}>{children}</div>
}
