import { messages } from '../messages.ts'
import classes from './logo.module.css'

/** The logo: a harbour with its breakwater, water and lighthouse. */
export function Logo({ size = 28 }: { size?: number }) {
  return (
    <svg
      className={classes.mark}
      viewBox="2 2.4 27.2 27.2"
      width={size}
      height={size}
      aria-hidden="true"
      focusable="false"
    >
      <g className={classes.walls} fill="none" strokeWidth="3.2" strokeLinecap="round">
        <path d="M23.4 23.1A11 11 0 1 1 19 5.8" />
        <path d="M10.4 16.8c1.9-1.6 3.8-1.6 5.7 0s3.8 1.6 5.7 0 3.8-1.6 5.7 0" strokeWidth="2.6" />
      </g>
      <circle className={classes.lamp} cx="24.6" cy="9.2" r="3" />
    </svg>
  )
}

export function Wordmark() {
  return (
    <span className={classes.wordmark}>
      <Logo />
      {messages.brand}
    </span>
  )
}
