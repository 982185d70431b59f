import { launchChromium, openSong } from './browser-and-service.mjs';
import { largeSong } from './large-song.mjs';
const browser = await launchChromium();
const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
await page.addInitScript(() => localStorage.setItem('songfoundry.preferences', JSON.stringify({ sound: 'client', follow: true, snapTicks: 240 })));
await openSong(page, process.argv[2], largeSong());
await page.waitForTimeout(8000);
const s = await page.context().newCDPSession(page); await s.send('Profiler.enable'); await s.send('Profiler.setSamplingInterval',{interval:500});
const prof = async (n, f, per) => { await s.send('Profiler.start'); await f(); const {profile:p} = await s.send('Profiler.stop'); const byId=new Map(p.nodes.map(x=>[x.id,x])); const self=new Map(); const parent=new Map(); for(const x of p.nodes) for(const c of x.children??[]) parent.set(c,x.id); 
 const tot=new Map(); for(let i=0;i<p.samples.length;i++){ const d=p.timeDeltas[i]/1000; const k=x=>x.callFrame.functionName+' '+x.callFrame.url.split('/').pop().split('?')[0].slice(0,14)+':'+x.callFrame.lineNumber; let x=byId.get(p.samples[i]); self.set(k(x),(self.get(k(x))??0)+d); const seen=new Set(); while(x){ const q=k(x); if(!seen.has(q)){seen.add(q); tot.set(q,(tot.get(q)??0)+d);} x=byId.get(parent.get(x.id)); } }
 console.log('##',n); const show=(m,c)=>[...m].filter(([k])=>!/^\((idle|root|program)/.test(k)).sort((a,b)=>b[1]-a[1]).slice(0,c).forEach(([k,v])=>console.log((v/per).toFixed(2).padStart(8),k)); console.log('-self'); show(self,22); console.log('-total'); show(tot,45); };
await page.getByLabel('Clips of the tracks').click({ position: { x: 200, y: 30 } });
await page.getByRole('button', { name: 'Draw tool' }).click();
const roll = await page.getByLabel(/^Notes of /).boundingBox();
await page.waitForTimeout(6000);
await prof('note (ms per note)', async()=>{ for (let n=0;n<8;n++){ await page.mouse.click(roll.x+20+n*40, roll.y+22+n*11); await page.waitForTimeout(1000);} }, 8);
await page.keyboard.press('Space'); await page.getByRole('button', { name: 'Play', pressed: true }).waitFor(); await page.waitForTimeout(3000);
await prof('playing (ms per s)', ()=>page.waitForTimeout(4000), 4);
await browser.close();
