import type { ReactNode } from 'react'
import classes from './icons.module.css'

/**
 * Line drawings on a grid of 20, in the color of the text beside them, hidden from screen readers.
 */
const DRAWINGS = {
  home: <path d="M3.5 9.2 10 3.8l6.5 5.4M5 8.2v8h3.6v-4.4h2.8v4.4H15v-8" />,
  search: <path d="M9 14.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11ZM13 13l3.8 3.8" />,
  key: (
    <path d="M6.8 16a3.3 3.3 0 1 0 0-6.6 3.3 3.3 0 0 0 0 6.6ZM9.2 10.4 16 3.6m-3.2 3.2 2.4 2.4" />
  ),
  person: (
    <path d="M10 9.6a3.2 3.2 0 1 0 0-6.4 3.2 3.2 0 0 0 0 6.4ZM3.8 16.6c.7-3 3.1-4.6 6.2-4.6s5.5 1.6 6.2 4.6" />
  ),
  people: (
    <path d="M7.4 9.2a2.8 2.8 0 1 0 0-5.6 2.8 2.8 0 0 0 0 5.6ZM2.4 16c.5-2.7 2.4-4.2 5-4.2s4.5 1.5 5 4.2M12.6 3.9a2.8 2.8 0 0 1 0 5M14.4 12.2c1.7.6 2.8 1.9 3.2 3.8" />
  ),
  book: (
    <path d="M10 5.4C8.5 4.2 6.2 3.8 3.5 3.8v11.2c2.7 0 5 .4 6.5 1.6 1.5-1.2 3.8-1.6 6.5-1.6V3.8c-2.7 0-5 .4-6.5 1.6Zm0 0v11.2" />
  ),
  copy: <path d="M7.5 7.5h8v8h-8zM12.5 7.5v-3h-8v8h3" />,
  done: <path d="m4.5 10.6 3.6 3.6 7.4-8" />,
  good: <path d="M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14ZM6.8 10.3l2.3 2.3 4.2-4.8" />,
  warn: <path d="M10 3.4 2.8 16h14.4L10 3.4Zm0 4.8v3.6m0 2v.2" />,
  bad: <path d="M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14ZM7.5 7.5l5 5m0-5-5 5" />,
  unknown: (
    <path d="M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14ZM8 8.2c.2-1.2 1-1.8 2.1-1.8 1.2 0 2 .7 2 1.7 0 1.5-2.1 1.5-2.1 3.2m0 2v.2" />
  ),
  unused: <path d="M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14ZM7 10h6" />,
  info: <path d="M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14ZM10 9.4v4m0-6.6v.2" />,
  sun: (
    <path d="M10 13.2a3.2 3.2 0 1 0 0-6.4 3.2 3.2 0 0 0 0 6.4ZM10 2.6v1.6m0 11.6v1.6M2.6 10h1.6m11.6 0h1.6M4.8 4.8l1.1 1.1m8.2 8.2 1.1 1.1m0-10.4-1.1 1.1M5.9 14.1l-1.1 1.1" />
  ),
  moon: <path d="M16.2 11.8A6.6 6.6 0 0 1 8.2 3.8a6.6 6.6 0 1 0 8 8Z" />,
  system: <path d="M3 4.2h14v9.2H3zM7.5 16.4h5m-2.5-3v3" />,
  mail: <path d="M3 5h14v10.5H3zM3.4 5.6 10 11l6.6-5.4" />,
  globe: (
    <path d="M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14ZM3 10h14M10 3c2.2 2 3.2 4.3 3.2 7s-1 5-3.2 7c-2.2-2-3.2-4.3-3.2-7s1-5 3.2-7Z" />
  ),
  watch: <path d="M2.8 10h3.4l2-5.4 3.6 10.8 2-5.4h3.4" />,
  leave: <path d="M8.4 3.8H4v12.4h4.4M12.6 6.4 16.2 10l-3.6 3.6M16 10H8" />,
  move: <path d="M3.5 6.6h12m-3-3 3 3-3 3M16.5 13.4h-12m3-3-3 3 3 3" />,
  shield: <path d="M10 2.8 4 5v4.6c0 3.6 2.4 6.4 6 7.6 3.6-1.2 6-4 6-7.6V5l-6-2.2Z" />,
  hook: (
    <path d="M7.6 8.6a3.2 3.2 0 1 1 4.6-.4l2.2 3.9M12.6 16.2a3.2 3.2 0 1 0 1.6-4.4M4.6 11.4a3.2 3.2 0 1 0 4.6 3.4h4.4M9.9 6.2 7.4 10.6" />
  ),
  bell: <path d="M5 13.8V9a5 5 0 0 1 10 0v4.8l1.2 1.4H3.8L5 13.8ZM8.4 17.2h3.2" />,
  settings: (
    <path d="M3 6h8m4 0h2M3 14h2m4 0h8M13 8a2 2 0 1 0 0-4 2 2 0 0 0 0 4ZM7 16a2 2 0 1 0 0-4 2 2 0 0 0 0 4Z" />
  ),
  more: <path d="M4.5 10h.1m5.35 0h.1m5.35 0h.1" strokeWidth="2.6" />,
  plus: <path d="M10 4v12M4 10h12" />,
  download: <path d="M10 3.6v9m-3.6-3.4L10 12.8l3.6-3.6M4 16.2h12" />,
  send: <path d="M16.6 3.4 3.4 8.6l5.2 2.8 2.8 5.2 5.2-13.2ZM8.6 11.4l3.4-3.4" />,
  back: <path d="M16 10H4m4.6-4.6L4 10l4.6 4.6" />,
  up: <path d="m5 12.4 5-5 5 5" />,
  down: <path d="m5 7.6 5 5 5-5" />,
  shown: (
    <path d="M2.5 10S5 5.4 10 5.4s7.5 4.6 7.5 4.6-2.5 4.6-7.5 4.6S2.5 10 2.5 10Zm7.5 2.4a2.4 2.4 0 1 0 0-4.8 2.4 2.4 0 0 0 0 4.8Z" />
  ),
  hidden: (
    <path d="M4 3.6l12 12.8M11.6 11.8a2.4 2.4 0 0 1-3.3-3.5M8.6 5.5A8.4 8.4 0 0 1 10 5.4c5 0 7.5 4.6 7.5 4.6a10 10 0 0 1-2.2 2.7M5.2 6.4A10.6 10.6 0 0 0 2.5 10s2.5 4.6 7.5 4.6a7.7 7.7 0 0 0 3.3-.7" />
  ),
  arrow: <path d="M4 10h12m-4.6-4.6L16 10l-4.6 4.6" />,
} as const satisfies Record<string, ReactNode>

export type IconName = keyof typeof DRAWINGS

export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg
      className={classes.icon}
      viewBox="0 0 20 20"
      width={size}
      height={size}
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      {DRAWINGS[name]}
    </svg>
  )
}
