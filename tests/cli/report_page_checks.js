// Run in the page by report_page_test.py: each gives a list of what is wrong.
'use strict';

// Elements with text of their own whose colour is too near to what is behind them (WCAG 2: 4.5),
// and colours of charts, which stand on the panel.
function tooPale() {
  const light = (of) => {
    const [r, g, b] = of.match(/[\d.]+/g)
                          .map(Number)
                          .map((v) => v / 255)
                          .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (; element; element = element.parentElement) {
      const colour = getComputedStyle(element).backgroundColor;
      if (!/, 0\)$/.test(colour)) return colour;
    }
    return 'rgb(255, 255, 255)';
  };
  const pale = [];
  for (const element of document.querySelectorAll('body *')) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!own || !element.checkVisibility() || element.matches('script, title, .skip')) continue;
    const style = getComputedStyle(element);
    const colour = element instanceof SVGElement ? style.fill : style.color;
    const [a, b] = [light(colour), light(behind(element))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) pale.push(`${element.tagName} ${element.textContent.slice(0, 30)} ${ratio}`);
  }
  // Those of charts, which stand on the panel.
  const probe = document.createElement('i');
  document.body.append(probe);
  const panel = light(getComputedStyle(document.querySelector('section')).backgroundColor);
  for (const name
           of ['wait', 'copies', 'exchange', 'device', 'other', 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h',
               'good', 'fair', 'poor', 'none', 'link', 'soft', 'ink']) {
    probe.style.color = `var(--${name})`;
    const [a, b] = [light(getComputedStyle(probe).color), panel].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) pale.push(`--${name} ${(a + 0.05) / (b + 0.05)}`);
  }
  probe.remove();
  return pale;
}

// What a screen reader would miss.
function unnamed() {
  const wrong = [], all = (query) => [...document.querySelectorAll(query)];
  const ids = all('[id]').map((element) => element.id);
  wrong.push(...ids.filter((id, i) => ids.indexOf(id) !== i).map((id) => `id ${id} twice`));
  for (const attribute of ['aria-labelledby', 'aria-describedby']) {
    for (const element of all(`[${attribute}]`)) {
      const target = document.getElementById(element.getAttribute(attribute));
      if (!target || !target.textContent.trim())
        wrong.push(`${attribute} of ${element.tagName} leads nowhere`);
    }
  }
  for (const link of all('a[href^="#"]')) {
    if (!document.getElementById(link.hash.slice(1))) wrong.push(`${link.hash} leads nowhere`);
  }
  for (const svg of all('svg')) {
    if (svg.getAttribute('role') !== 'img' || !svg.querySelector('title')?.textContent.trim())
      wrong.push('svg without a name');
  }
  for (const element of all('button, a, summary'))
    if (!element.textContent.trim()) wrong.push(`${element.tagName} without a name`);
  for (const element of all('[role=slider], [role=region], nav')) {
    if (!element.getAttribute('aria-label')) wrong.push(`${element.tagName} without a label`);
  }
  for (const element of all('[role=slider]')) {
    for (const name of ['valuenow', 'valuemin', 'valuemax', 'valuetext']) {
      if (!element.hasAttribute(`aria-${name}`)) wrong.push(`slider without ${name}`);
    }
  }
  for (const there of all('table')) {
    if (!there.caption || !there.tHead || !there.querySelector('tbody th[scope=row]'))
      wrong.push('table without its heads');
  }
  for (const there of all('ul'))
    if ([...there.children].some((child) => child.tagName !== 'LI'))
      wrong.push('list of what is no item');
  const levels = all('h1, h2, h3, h4').map((heading) => Number(heading.tagName[1]));
  if (levels.filter((level) => level === 1).length !== 1 || levels[0] !== 1)
    wrong.push('one h1, and first');
  levels.forEach((level, i) => {
    if (i > 0 && level > levels[i - 1] + 1) wrong.push(`h${level} after h${levels[i - 1]}`);
  });
  for (const landmark of ['header', 'nav', 'main', 'footer'])
    if (all(landmark).length !== 1) wrong.push(`one ${landmark}`);
  if (document.documentElement.lang !== 'en' || !document.title) wrong.push('no language or title');
  return wrong;
}
