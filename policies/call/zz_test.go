package call
import ("testing";"fmt";"strings";"sort")
func TestZZ(t *testing.T){
 n:=map[string]int{}; ex:=map[string][]string{}
 readers:=map[string]*Reader{"root":readerFor("root"),"plain":readerFor("plain"),"subfolder":readerFor("subfolder")}
 for _,r:=range recordings(t){
  fam,_,_:=strings.Cut(r.ID,"/")
  c:=readers[r.Site].ReadRaw(r.Request)
  for _,o:=range r.Outcomes{ v,why:=judge(c,o); if v==refused { k:=fam+" "+why; n[k]+=len(o.By); if len(ex[k])<3 { m:="none"; if o.Route!=nil {m=o.Method+" "+*o.Route+" match="+o.Match}; ex[k]=append(ex[k],fmt.Sprintf("%s | %.260q",m,r.Request))}}}
 }
 ks:=[]string{}; for k:=range n {ks=append(ks,k)}
 sort.Slice(ks,func(i,j int)bool{return n[ks[i]]>n[ks[j]]})
 for _,k:=range ks { fmt.Println(n[k],k); for _,e:=range ex[k]{fmt.Println("     ",e)}}
}
