import classes from './harbour-illustration.module.css'

/** Illustration of a harbour: two breakwaters, a boat coming in, and a lighthouse. */
export function HarbourIllustration() {
  return (
    <svg className={classes.harbour} viewBox="0 0 640 132" aria-hidden="true" focusable="false">
      <linearGradient id="light" gradientUnits="userSpaceOnUse" x1="0" x2="640">
        <stop className={classes.far} offset="0" />
        <stop className={classes.near} offset="0.7" />
        <stop className={classes.far} offset="1" />
      </linearGradient>
      <path d="M448 37 0 2v70Z" fill="url(#light)" />
      <path d="M448 37 640 20v34Z" fill="url(#light)" />
      <g className={classes.line}>
        <path d="M0 84h640" />
        <path d="M0 84c70-2 120-5 168-12l42-4 11 16" />
        <path d="M640 84c-60-2-108-7-150-11l-66-5-11 16" />
        <path d="M441 69l3-27h8l3 28M443 53h10" />
        <path d="M290 84c4 6 44 6 50 0M314 83V50l21 28h-21" />
      </g>
      <circle className={classes.lamp} cx="448" cy="37" r="5" />
      <path className={classes.glint} d="M440 94h16M436 104h24M442 114h12M446 124h4" />
      <path
        className={classes.water}
        d="M60 100h90M190 112h60M296 98h36M520 100h70M600 114h40M90 124h50M540 126h30"
      />
    </svg>
  )
}
